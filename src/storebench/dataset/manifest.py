"""The manifest of a dataset: what is in the bucket, and the checksums that every store is held against."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storebench import s3
from storebench.dataset.checksum import FIELD_NAMES, as_hex
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.errors import StoreRefused


@dataclass(frozen=True)
class Manifest:
    """Rows, bytes, SHA-256 of the whole CSV, and the order-independent checksums (storebench.dataset.checksum)."""

    schema_version: int
    rows: int
    seed: int
    bytes: int
    sha256: str
    fields: Mapping[str, int]
    row_sum: int

    def to_json(self) -> str:
        """About 2 kB; checksums are 16 hexadecimal digits."""
        data = {
            "schema_version": self.schema_version,
            "rows": self.rows,
            "seed": self.seed,
            "bytes": self.bytes,
            "sha256": self.sha256,
            "row_sum": as_hex(self.row_sum),
            "fields": {name: as_hex(self.fields[name]) for name in FIELD_NAMES},
        }
        return json.dumps(data, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Raises ValueError for a text that is no manifest of this schema version."""
        try:
            data: dict[str, Any] = json.loads(text)
            manifest = cls(
                schema_version=int(data["schema_version"]),
                rows=int(data["rows"]),
                seed=int(data["seed"]),
                bytes=int(data["bytes"]),
                sha256=str(data["sha256"]),
                fields={name: int(data["fields"][name], 16) for name in FIELD_NAMES},
                row_sum=int(data["row_sum"], 16),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a dataset's manifest: {error!r}") from None
        if manifest.schema_version != SCHEMA_VERSION:
            raise ValueError(f"schema version {manifest.schema_version}, not {SCHEMA_VERSION}")
        return manifest

    @classmethod
    def load(cls, client: Any, bucket: str, key: str) -> Manifest:
        """Read the manifest at `key`. Raises StoreUnreachable or StoreRefused that name S3 and the key."""
        with s3.errors(client, bucket, key):
            text = client.get_object(Bucket=bucket, Key=key)["Body"].read().decode()
        try:
            return cls.from_json(text)
        except ValueError as error:
            raise StoreRefused(f"s3://{bucket}/{key} is not usable: {error}") from None


def dataset_key(rows: int, seed: int) -> str:
    """The CSV's key in the bucket."""
    return f"{_prefix(rows, seed)}/data.csv"


def manifest_key(rows: int, seed: int) -> str:
    """The manifest's key. It is written last: where it is, the dataset is complete."""
    return f"{_prefix(rows, seed)}/manifest.json"


def _prefix(rows: int, seed: int) -> str:
    return f"datasets/v{SCHEMA_VERSION}/rows={rows}/seed={seed}"
