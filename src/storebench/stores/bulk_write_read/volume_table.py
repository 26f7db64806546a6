"""The base class of stores whose engine runs in the pod, and keeps a target's table in a folder of the cell's volume."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from storebench.errors import StoreRefused
from storebench.protocol.figures import Cover
from storebench.stores.base import Pod
from storebench.stores.bulk_write_read.base import WRITE, TableStore
from storebench.stores.files import LocalFiles
from storebench.stores.volume import OPTIONS

FOLDER = "/data"
FULL = "The volume is full. Ask for a larger one (volume_size), or for fewer rows"


class VolumeTable(TableStore):
    """A store with the files of a target's table below FOLDER. The other pods of the cell mount the same volume."""

    pod = Pod("columns", volume=FOLDER)
    options = OPTIONS
    figures_cover: ClassVar[Cover] = "engine"

    @property
    def folder(self) -> Path:
        """Return the table's folder: a subfolder, since a new volume may have a folder lost+found."""
        return Path(FOLDER, self.target)

    def prepare(self) -> None:
        """Make an empty folder. A write whose volume still has a table is an earlier try's."""
        LocalFiles(Path(FOLDER)).remove(self.target)
        self.folder.mkdir()

    def check_written(self) -> None:
        """Raise StoreRefused if the volume does not have the table."""
        if self.operation != WRITE and not self.folder.is_dir():
            raise StoreRefused(
                f"What was written is not there: {self.folder} does not exist. Was the volume lost?"
            )

    def sync(self) -> None:
        """Make the table's files durable, including the names of files and folders."""
        for path in [self.folder, *self.folder.rglob("*")]:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def size_bytes(self) -> int | None:
        with suppress(OSError):
            return LocalFiles(Path(FOLDER)).disk_bytes(self.target)
        return None

    def drop(self) -> None:
        """Do nothing: the drop deletes the whole volume without a pod."""
