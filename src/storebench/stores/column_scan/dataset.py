"""Make the table in S3, with an object for each column."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storebench import s3
from storebench.errors import StoreRefused
from storebench.stores.column_scan.table import BY_NAME, COLUMNS, SUMMED, UIDS, Column, digest_of, key_of
from storebench.study.dataset import MANIFEST

BEGAN = 1_388_534_400  # 2014-01-01
YEARS_S = 5 * 365 * 86_400
DAY_S = 86_400
PORTAL_TYPES = (b"Sale Order Line", b"Purchase Order Line", b"Inventory Line", b"Sale Invoice Line")
STATES = (b"draft", b"planned", b"confirmed", b"stopped", b"delivered")
DISTINCT = dict(zip(UIDS, (400_000, 20_000, 40, 300, 25, 120, 15, 5_000, 40, 20_000, 6_000), strict=True))

Values = NDArray[Any]


def column_of(column: Column, rows: int, seed: int) -> Values:
    """Return the values of a column.

    The values are computed with integers from the bits of a counter-based generator, so that they do not depend on NumPy's version.
    """
    values: Values = _values(column.name, rows, seed).astype(column.dtype)
    return values


def _bits(name: str, rows: int, seed: int) -> NDArray[np.uint64]:
    place = [column.name for column in COLUMNS].index(name)
    bits: NDArray[np.uint64] = np.random.Philox(key=np.array([seed, place], np.uint64)).random_raw(rows)
    return bits


def _values(name: str, rows: int, seed: int) -> Any:
    if name == "uid":
        return np.arange(1, rows + 1)
    if name == "order_id":
        return np.arange(rows) % 4
    if name == "mirror_date":
        return _values("date", rows, seed) + DAY_S
    bits = _bits(name, rows, seed)
    if name.endswith("_uid"):
        known = DISTINCT[name.removesuffix("_uid")]
        return np.where(bits % 8 == 0, 0, 1_000_000 + (bits >> 3) % known)
    if name == "quantity":
        return _thousandths(bits) / 1_000
    if name == "total_price":
        return _thousandths(_bits("quantity", rows, seed)) * (100 + bits % 5_000).astype(np.int64) / 100_000
    if name == "is_cancellation":
        return bits % 50 == 0
    if name == "is_accountable":
        return bits % 10 != 0
    if name == "date":
        return (BEGAN + bits % YEARS_S).astype(np.int64)
    if name == "portal_type":
        return np.array(PORTAL_TYPES)[bits % len(PORTAL_TYPES)]
    if name == "simulation_state":
        return np.array(STATES)[bits % len(STATES)]
    if name == "variation_text":
        return np.array([b"colour/%d" % number for number in range(12)])[bits % 12]
    lots = np.array([b""] + [b"lot/%d" % number for number in range(1, 1_001)])
    return lots[np.where(bits % 4 == 0, 0, 1 + (bits >> 2) % 1_000)]


def _thousandths(bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return quantities from -1,000 to 1,000 in thousandths."""
    return (bits % 2_000_001).astype(np.int64) - 1_000_000


def make(client: Any, bucket: str, prefix: str, rows: int, seed: int) -> Mapping[str, Any]:
    """Make the dataset below `prefix`, in the dataset's pod. The manifest is written last and returned."""
    key = f"{prefix}{MANIFEST}"
    with s3.errors(client, bucket, key):
        text = s3.read(client, bucket, key)
    if text is not None:
        existing: dict[str, Any] = json.loads(text)
        return existing
    digests: dict[str, str] = {}
    sums: dict[str, float] = {}
    magnitudes: dict[str, float] = {}
    for column in COLUMNS:
        values = column_of(column, rows, seed)
        body = values.tobytes()
        digests[column.name] = digest_of(body)
        if column.name in SUMMED:
            sums[column.name], magnitudes[column.name] = math.fsum(values), math.fsum(np.abs(values))
        place = key_of(prefix, column.name)
        with s3.errors(client, bucket, place):
            client.put_object(Bucket=bucket, Key=place, Body=body)
    manifest = {
        "rows": rows,
        "bytes": rows * sum(column.bytes for column in COLUMNS),
        "digests": digests,
        "sums": sums,  # exact sums, rounded once
        "magnitudes": magnitudes,  # sums of absolute values
    }
    with s3.errors(client, bucket, key):
        client.put_object(Bucket=bucket, Key=key, Body=json.dumps(manifest, separators=(",", ":")).encode())
    return manifest


def manifest_of(client: Any, bucket: str, prefix: str) -> dict[str, Any]:
    """Return the manifest of the dataset below `prefix`. Raises StoreRefused if it is missing."""
    key = f"{prefix}{MANIFEST}"
    with s3.errors(client, bucket, key):
        text = s3.read(client, bucket, key)
    if text is None:
        raise StoreRefused(f"s3://{bucket}/{key} does not exist: the next run makes the dataset")
    manifest: dict[str, Any] = json.loads(text)
    return manifest


def columns_of(
    client: Any, bucket: str, prefix: str, manifest: Mapping[str, Any]
) -> Iterator[tuple[str, Values]]:
    """Yield each column of the dataset below `prefix`. Raises StoreRefused for a changed column."""
    for name, wanted in manifest["digests"].items():
        key = key_of(prefix, name)
        with s3.errors(client, bucket, key):
            data = s3.read(client, bucket, key)
        if data is None or digest_of(data) != wanted:
            raise StoreRefused(
                f"s3://{bucket}/{key} {'is not there' if data is None else 'has other bytes than it was made of'}:"
                f" remove s3://{bucket}/{prefix}{MANIFEST}, and the next run makes the dataset anew"
            )
        yield name, np.frombuffer(data, BY_NAME[name].dtype)
