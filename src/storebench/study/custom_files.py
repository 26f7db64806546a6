"""Find the files that an address in S3 names: one file, or the parts of a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from storebench import s3
from storebench.errors import SpecError, StoreRefused
from storebench.study.dataset import bucket_and_key

FORMATS = {".csv": "CSV", ".csv.gz": "CSV", ".parquet": "Parquet"}  # format by the end of a file's name
MAX_PARTS = 10_000
TABLES = {
    "_delta_log": "a table of Delta Lake",
    ".hoodie": "a table of Hudi",
    "metadata": "a table of Iceberg",
}


@dataclass(frozen=True)
class Files:
    """The files of an address. `version` changes with the content; `size` is the sum of all sizes in bytes."""

    bucket: str
    keys: tuple[str, ...]  # in the order of the dataset's rows
    format: str
    version: str
    size: int
    folder: str = ""  # the common prefix of a folder's keys

    def name_of(self, key: str) -> str:
        """Return the name of a part below its folder; "" for a single file."""
        return key.removeprefix(self.folder) if self.folder else ""


def find(client: Any, address: str) -> Files:
    """Find the files of `s3://bucket/key` or of the folder `s3://bucket/key/`. A folder's address may lack the last slash.

    Raises SpecError for a folder whose files are no dataset, and StoreUnreachable or StoreRefused with the address.
    """
    bucket, key = bucket_and_key(address)
    if key.endswith("/"):
        with s3.errors(client, bucket, key):
            return _folder(
                client, address, key, StoreRefused(f"There is no file in {address}, or only hidden ones")
            )
    try:
        with s3.errors(client, bucket, key):
            version, size = s3.version(client, bucket, key)
        return Files(bucket, (key,), _format(key), version, size)
    except StoreRefused as absent:
        if not s3.is_absent(absent.__cause__):
            raise
        try:
            with s3.errors(client, bucket, key):
                return _folder(client, address, key + "/", absent)
        except StoreRefused:  # a login may lack the permission to list
            raise absent from None


def _folder(client: Any, address: str, folder: str, absent: StoreRefused) -> Files:
    """Return the parts of a folder, sorted by key. Raises `absent` for a folder without parts, and the S3 client's errors."""
    bucket, _ = bucket_and_key(address)
    digest, size = hashlib.sha256(), 0
    keys: list[str] = []
    for key, tag, length in sorted(_listed(client, bucket, folder)):
        _check_part(address, key.removeprefix(folder))
        if not _is_part(key.removeprefix(folder), length):
            continue
        if len(keys) == MAX_PARTS:
            raise SpecError(f"{address} is a folder of more than {MAX_PARTS:,} files. Write fewer files")
        if not _format(key):
            raise SpecError(
                f"{address} is a folder with the file {key.removeprefix(folder)!r}, whose name ends with none of {', '.join(FORMATS)}. Move the"
                " file out of the folder"
            )
        if keys and _format(key) != _format(keys[0]):
            raise SpecError(
                f"{address} is a folder of both CSV and Parquet files, such as {keys[0].removeprefix(folder)!r} and"
                f" {key.removeprefix(folder)!r}. Give each format a folder"
            )
        keys.append(key)
        size += length
        digest.update(f"{key}\n{tag}\n{length}\n".encode())
    if not keys:
        raise absent
    return Files(bucket, tuple(keys), _format(keys[0]), digest.hexdigest(), size, folder)


def _listed(client: Any, bucket: str, folder: str) -> Iterator[tuple[str, str, int]]:
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=folder):
        for item in page.get("Contents", []):
            yield str(item["Key"]), str(item["ETag"]), int(item["Size"])


def _check_part(address: str, name: str) -> None:
    """Raise SpecError for a file of a table, of an unfinished write, or of a partitioned dataset."""
    *folders, last = name.split("/")
    if not last:
        return
    for subfolder in folders:
        if subfolder in TABLES and (subfolder != "metadata" or last.endswith(".metadata.json")):
            raise SpecError(
                f"{address} is {TABLES[subfolder]}: its log says which files count. Write its rows to a folder of Parquet files"
            )
        if subfolder == "_temporary":
            raise SpecError(
                f"{address} has the file {name!r}: its writer has not finished, or failed. Write the folder anew"
            )
        if "=" in subfolder and not subfolder.startswith("."):
            raise SpecError(
                f"{address} is partitioned: its files lack the column of the folder {subfolder!r}. Write it without partitions, or name one"
                " partition's folder"
            )


def _is_part(name: str, size: int) -> bool:
    """Return whether a file has rows: hidden files, folder markers and empty CSV files have no rows."""
    hidden = any(part.startswith(("_", ".")) for part in name.split("/"))
    marker = not name or name.endswith(("/", "_$folder$"))
    return not hidden and not marker and (size > 0 or _format(name) != "CSV")


def _format(key: str) -> str:
    return next((kind for end, kind in FORMATS.items() if key.endswith(end)), "")
