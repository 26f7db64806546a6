"""The manifest of a dataset: what is in the bucket, and the checksums that every store is held against."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

from storebench import s3
from storebench.dataset.csv50 import CSV50
from storebench.dataset.schema import FIELDS, SCHEMA_VERSION, Field, Type
from storebench.errors import StoreRefused
from storebench.study.dataset import MANIFEST, folder_of

CSV = "data.csv"  # its name in the dataset's folder


@dataclass(frozen=True)
class Manifest:
    """Rows, bytes, SHA-256 of the whole CSV (header included), and its checksums (storebench.dataset.checksum).

    `schema` are its fields, and `file` is what it was made of: they are there for a custom file. So are `offsets`, the byte offsets of its
    rows 0, 10,000, 20,000, … (storebench.dataset.offsets); None for a copy that an earlier version made.
    """

    schema_version: int
    rows: int
    seed: int
    bytes: int
    sha256: str
    fields: Mapping[str, int]
    row_sum: int
    generator_version: str
    bucket: str
    key: str
    schema: Sequence[Field] = FIELDS
    file: str | None = None
    offsets: Sequence[int] | None = None

    def to_json(self) -> str:
        """Return the manifest as one line of JSON, with checksums of 16 hex digits.

        The manifest of a generated dataset has about 2 kB, which fits into a pod's termination message.
        """
        data = {
            **vars(self),
            "fields": {field.name: f"{self.fields[field.name]:016x}" for field in self.schema},
            "row_sum": f"{self.row_sum:016x}",
        }
        del data["schema"], data["file"], data["offsets"]
        if self.file is not None:
            data |= {"file": self.file, "schema": [_non_defaults(field) for field in self.schema]}
        if self.offsets is not None:
            data["offsets"] = list(self.offsets)
        return json.dumps(data, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Raises ValueError that says why for a text that is no manifest of this schema version."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise _invalid(f"not JSON ({error})") from None
        if not isinstance(data, dict):
            raise _invalid("not a JSON object")
        version = _get(data, "schema_version", int)
        if version != SCHEMA_VERSION:
            raise ValueError(f"a manifest of schema version {version}, not {SCHEMA_VERSION}")
        file = _get(data, "file", str) if "file" in data else None
        schema = FIELDS if file is None else schema_of(data)
        fields = _get(data, "fields", dict)
        if fields.keys() != {field.name for field in schema}:
            raise _invalid("its fields are not those of the schema")
        sha256 = _get(data, "sha256", str)
        if not re.fullmatch("[0-9a-f]{64}", sha256):
            raise _invalid("sha256 is not 64 hexadecimal digits")
        return cls(
            schema_version=version,
            rows=_get(data, "rows", int),
            seed=_get(data, "seed", int),
            bytes=_get(data, "bytes", int),
            sha256=sha256,
            fields={field.name: _checksum(fields, field.name) for field in schema},
            row_sum=_checksum(data, "row_sum"),
            generator_version=_get(data, "generator_version", str),
            bucket=_get(data, "bucket", str),
            key=_get(data, "key", str),
            schema=schema,
            file=file,
            offsets=_offsets(data) if "offsets" in data else None,
        )

    @classmethod
    def load(cls, client: Any, bucket: str, key: str) -> Manifest:
        """Read the manifest at `key`. Raises StoreUnreachable or StoreRefused that name S3 and the key."""
        with s3.errors(client, bucket, key):
            text = client.get_object(Bucket=bucket, Key=key)["Body"].read()
        try:
            return cls.from_json(text.decode())
        except ValueError as error:
            raise StoreRefused(f"s3://{bucket}/{key} is not usable: {error}") from None


def schema_of(manifest: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the fields of a custom file from its manifest. Raises ValueError for a manifest without usable fields."""
    known = {field.name for field in fields(Field)}
    schema = []
    for field in _get(manifest, "schema", list):
        if (
            not isinstance(field, dict)
            or not field.keys() <= known
            or field.get("type") not in get_args(Type)
        ):
            raise _invalid(f"{field!r} is no field")
        schema.append(Field(**{"description": "", **field}))
    return tuple(schema)


def _non_defaults(field: Field) -> dict[str, Any]:
    """Return the attributes of a field that differ from the defaults."""
    return {name: value for name, value in asdict(field).items() if value or (name == "scale" and value == 0)}


def _invalid(why: str) -> ValueError:
    return ValueError(f"not a dataset's manifest: {why}")


def _get(data: Mapping[str, Any], name: str, kind: type) -> Any:
    value = data.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _invalid(f"{name} is missing or no {kind.__name__}")
    return value


def _offsets(data: Mapping[str, Any]) -> tuple[int, ...]:
    offsets = _get(data, "offsets", list)
    if not all(type(offset) is int and offset >= 0 for offset in offsets) or offsets != sorted(set(offsets)):
        raise _invalid("its offsets are not ascending numbers")
    return tuple(offsets)


def _checksum(data: Mapping[str, Any], name: str) -> int:
    text = _get(data, name, str)
    if not re.fullmatch("[0-9a-f]{16}", text):
        raise _invalid(f"the checksum {name} is not 16 hexadecimal digits")
    return int(text, 16)


def dataset_key(rows: int, seed: int) -> str:
    """The CSV's key in the bucket."""
    return folder_of(CSV50.id(rows, seed)) + CSV


def manifest_key(rows: int, seed: int) -> str:
    """The manifest's key. It is written last: where it is, the dataset is complete."""
    return folder_of(CSV50.id(rows, seed)) + MANIFEST
