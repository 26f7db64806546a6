"""The base class of stores whose engine is in the pod, with files on the common volume of a cell's pods."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import ClassVar

from storebench.errors import StoreRefused
from storebench.stores.base import Durability, Pod
from storebench.stores.column_scan import residence
from storebench.stores.queries.base import DELETE, LOAD
from storebench.stores.queries.sql import SqlStore
from storebench.stores.volume import OPTIONS

FOLDER = "/data"
FULL = "The volume is full. Ask for a larger one (volume_size), or for fewer rows"


class FileStore(SqlStore):
    """A store whose data is files of `self.folder`."""

    pod: ClassVar[Pod] = Pod("columns", volume=FOLDER)
    options = OPTIONS
    figures_cover = "engine"

    def connect(self) -> None:
        self.folder = Path(FOLDER, self.target)  # a new volume may have a folder lost+found beside it
        if self.operation != LOAD and not self.folder.is_dir():
            raise StoreRefused(f"What was written is not there: {self.folder}. Was the volume lost?")

    @property
    def writes(self) -> bool:
        """Return whether the operation changes the files."""
        return self.operation in (LOAD, DELETE) or self.setting.ingest

    def create(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def durability(self) -> Durability:
        return Durability("disk", "fsync of each file and folder")

    def sync(self) -> None:
        """Write all files and folders to the disk."""
        residence.sync(residence.files_of(self.folder))

    def make_cold(self) -> int:
        """Connect again, without the table's files in the page cache. Return the bytes that stay in the page cache."""
        self.close()
        self.connect()
        found = residence.files_of(self.folder)
        residence.drop(found)
        return residence.resident_bytes(found)

    def size_bytes(self) -> int | None:
        return residence.size_of(residence.files_of(self.folder))

    def drop(self) -> None:
        """Do nothing: the drop deletes the whole volume without a pod."""


def refusal(engine: str, error: Exception) -> str:
    """Return an engine's error in one line, with advice about a full volume."""
    said = " ".join(str(error).split())
    return f"{FULL}: {said}" if os.strerror(errno.ENOSPC) in said else f"{engine} refused: {said}"
