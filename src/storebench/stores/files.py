"""Access files without Spark, to verify and remove the files that Spark wrote."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storebench import s3
from storebench.errors import StoreRefused, VerificationFailed

SUCCESS = "_SUCCESS"  # Spark's marker of a complete folder
UNDER_WAY = ("_temporary", "__magic")  # folders of an unfinished write


@dataclass(frozen=True)
class Listed:
    """The content of a folder: the names of all entries, and the sizes of its data files in bytes."""

    names: tuple[str, ...]
    sizes: dict[str, int]

    @property
    def file_bytes(self) -> int:
        """Return the bytes of all data files, without their copies."""
        return sum(self.sizes.values())


class Files(ABC):
    """A file system's files. Paths of folders have no leading slash."""

    @abstractmethod
    def entries(self, folder: str) -> dict[str, int] | None:
        """Return the entries of a folder with their sizes in bytes, subfolders with 0; None if the folder does not exist."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Return a file's bytes."""

    @abstractmethod
    def disk_bytes(self, folder: str) -> int:
        """Return the bytes of a folder on disks with all copies, as far as the file system states them."""

    @abstractmethod
    def remove(self, folder: str) -> None:
        """Remove a folder with its content. A missing folder is no error."""

    def check(self) -> None:  # noqa: B027 - optional
        """Check that the file system is usable. Raises a StorebenchError if it is not."""

    def check_absent(self, folder: str) -> None:
        """Raise StoreRefused if the folder exists: overwriting or adding files would be a different measurement."""
        if self.entries(folder) is not None:
            raise StoreRefused(
                f"The destination {folder} exists. An earlier try has left it: clear the cell's steps from drop on, then this step"
            )

    def listed(self, folder: str) -> Listed:
        """Return the content of a folder that Spark wrote. Raises VerificationFailed for a missing or incomplete folder."""
        entries = self.entries(folder)
        if entries is None:
            raise VerificationFailed(f"{folder} is not there")
        if SUCCESS not in entries or any(name in entries for name in UNDER_WAY):
            marks = ", ".join(name for name in UNDER_WAY if name in entries)
            raise VerificationFailed(
                f"{folder} was not written to its end: {f'it has {marks}' if marks else f'there is no {SUCCESS}'}"
            )
        sizes = {name: size for name, size in entries.items() if not name.startswith(("_", "."))}
        return Listed(tuple(entries), sizes)

    def parts(self, folder: str) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the bytes of each data file of a complete folder."""
        for name in sorted(self.listed(folder).sizes):
            yield name, self.read(f"{folder}/{name}")


class LocalFiles(Files):
    """Files below a folder of the pod."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def entries(self, folder: str) -> dict[str, int] | None:
        path = self._root / folder
        if not path.is_dir():
            return None
        return {entry.name: entry.stat().st_size if entry.is_file() else 0 for entry in path.iterdir()}

    def read(self, path: str) -> bytes:
        return (self._root / path).read_bytes()

    def disk_bytes(self, folder: str) -> int:
        infos = (entry.stat() for entry in (self._root / folder).rglob("*") if entry.is_file())
        return sum(info.st_blocks * 512 for info in infos)

    def remove(self, folder: str) -> None:
        shutil.rmtree(self._root / folder, ignore_errors=True)


class S3Files(Files):
    """Files in an S3 bucket. The S3 server does not state its copies."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client, self._bucket = client, bucket

    def entries(self, folder: str) -> dict[str, int] | None:
        entries: dict[str, int] = {}
        for key, size in self.objects(folder):
            name, _, rest = key.removeprefix(f"{folder}/").partition("/")
            if name:
                entries[name] = 0 if rest else size
        return entries or None

    def read(self, path: str) -> bytes:
        with s3.errors(self._client, self._bucket, path):
            data = s3.read(self._client, self._bucket, path)
        if data is None:
            raise VerificationFailed(f"{path} is not there")
        return data

    def disk_bytes(self, folder: str) -> int:
        return sum(size for _, size in self.objects(folder))

    def remove(self, folder: str) -> None:
        keys = [{"Key": key} for key, _ in self.objects(folder)]
        for first in range(0, len(keys), 1000):
            with s3.errors(self._client, self._bucket, folder):
                self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": keys[first : first + 1000], "Quiet": True}
                )

    def objects(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield the key and the size in bytes of each object below a folder."""
        with s3.errors(self._client, self._bucket, folder):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=f"{folder}/"
            )
            for page in pages:
                for item in page.get("Contents", ()):
                    yield item["Key"], int(item["Size"])
