"""Keep a table that a filling store wrote, and copy the kept table into the next cells instead of writing the same rows again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from storebench import s3
from storebench.attempt.clock import OperationClock
from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.stores.base import Server
from storebench.stores.bulk_write_read.base import WRITE
from storebench.stores.bulk_write_read.delta import DeltaStore
from storebench.stores.files import S3Files
from storebench.study.cell import Cell
from storebench.study.dataset import MANIFEST
from storebench.version import code_version

if TYPE_CHECKING:
    from storebench.attempt.spec import AttemptSpec

FOLDER = "filled/"  # below the dataset's folder: who removes the dataset also removes the kept tables


def fills_another(spec: AttemptSpec) -> bool:
    """Return whether this pod writes a table for another store to read. Such a write has no row and no figures in the results."""
    return spec.operation == WRITE and spec.store != Cell.from_key(spec.cell_key).store


@dataclass(frozen=True)
class KeptTable:
    """The copy of a table that a filling store keeps in S3, beside the dataset of the table's rows.

    A copy is valid for the same dataset, store, client, axes, options and code. `name` is the hash of these. An object with this name, in
    JSON, lists the copy's objects. The pod writes this object last, so a copy without the object is incomplete. Each cell that keeps a copy
    uses its own folder: two pods that keep the same copy at once never mix their files.
    """

    client: Any
    bucket: str
    folder: str
    name: str

    @classmethod
    def of(cls, spec: AttemptSpec, s3_client: Any) -> KeptTable:
        """Return the kept table of the specification's write, whether or not the table exists."""
        dataset = str(spec.dataset)
        alike = [spec.store, spec.client, sorted(spec.axes.items()), sorted(spec.options.items())]
        with s3.errors(s3_client, spec.bucket, dataset):
            manifest = s3.read(s3_client, spec.bucket, dataset + MANIFEST) or b""
        parts = [alike, spec.method_version, hashlib.sha256(manifest).hexdigest()]
        name = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
        return cls(s3_client, spec.bucket, f"{dataset}{FOLDER}", f"{code_version()}/{name}")

    def content(self) -> dict[str, Any] | None:
        """Return the list of the copy: its `prefix`, `keys`, `rows` and `server`. None if there is no complete copy."""
        with s3.errors(self.client, self.bucket, self._list):
            text = s3.read(self.client, self.bucket, self._list)
        return json.loads(text) if text else None

    def keep(self, key: str, cell: str, rows: int, server: Server) -> None:
        """Keep a copy of the table at the prefix `key`. `cell`: the name of the folder of this copy. Remove the copies of other code."""
        prefix = f"{self.folder}{self.name}/{cell}/"
        with s3.errors(self.client, self.bucket, prefix):
            self._remove_other_code()
            # Hadoop also writes an empty object for each folder, such as `_delta_log/`. No reader needs these objects.
            objects = S3Files(self.client, self.bucket).objects(key)
            keys = [item.removeprefix(f"{key}/") for item, _ in objects if not item.endswith("/")]
            for name in keys:
                self._copy(f"{key}/{name}", prefix + name)
            described = {"name": server.name, "version": server.version, "settings": dict(server.settings)}
            content = {"prefix": prefix, "keys": keys, "rows": rows, "server": described}
            self.client.put_object(Bucket=self.bucket, Key=self._list, Body=json.dumps(content).encode())

    def copy_to(self, key: str, content: Mapping[str, Any]) -> None:
        """Copy the objects of the kept table to the prefix `key`. S3 copies: no byte passes through this pod."""
        with s3.errors(self.client, self.bucket, key):
            for name in content["keys"]:
                self._copy(content["prefix"] + name, f"{key}/{name}")

    @property
    def _list(self) -> str:
        return f"{self.folder}{self.name}.json"

    def _copy(self, key: str, to: str) -> None:
        self.client.copy({"Bucket": self.bucket, "Key": key}, self.bucket, to)

    def _remove_other_code(self) -> None:
        files = S3Files(self.client, self.bucket)
        for version in files.entries(self.folder.removesuffix("/")) or ():
            if version != code_version():
                files.remove(f"{self.folder}{version}")


class CopiedTable(DeltaStore):
    """The write of a filling store whose table was kept before: the table is copied within S3, and verified like a written table."""

    name = "delta-spark"

    @classmethod
    def from_kept(
        cls, kept: KeptTable, content: Mapping[str, Any], spec: AttemptSpec, server: Connection | None
    ) -> Self:
        """Return the store that copies the kept table with this content to the specification's target."""
        store = cls.of(spec, server, kept.client)
        store._kept, store._content = kept, content
        return store

    _kept: KeptTable
    _content: Mapping[str, Any]

    def connect(self) -> None:
        pass

    def describe(self) -> Server:
        """Return the server that wrote the kept table."""
        return Server(**self._content["server"])

    def write(self, batch: int | None, clock: OperationClock) -> int:
        print(
            f"an earlier cell wrote this table: copying {len(self._content['keys'])} objects within S3",
            flush=True,
        )
        with clock.operation():
            self._kept.copy_to(self.key, self._content)
        return int(self._content["rows"])

    def read(self, clock: OperationClock) -> int:
        raise SpecError("a copied table is only written: its store reads the table")
