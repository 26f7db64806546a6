"""The base class of stores with files on the common volume of a cell's pods."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

from storebench.errors import StoreRefused
from storebench.stores.base import Pod
from storebench.stores.caches import Cold
from storebench.stores.column_scan import residence
from storebench.stores.column_scan.base import ScanStore
from storebench.stores.volume import OPTIONS

FOLDER = "/data"


class FileStore(ScanStore):
    """A store whose scan opens files itself, without a server."""

    pod = Pod("columns", volume=FOLDER)
    options = OPTIONS
    figures_cover = "engine"

    def connect(self) -> None:
        super().connect()
        self._folder = Path(
            FOLDER, self.target
        )  # a subfolder, since a new volume may have a folder lost+found
        if self.operation == "write":
            self._folder.mkdir(exist_ok=True)

    @abstractmethod
    def scanned_files(self) -> Sequence[Path]:
        """Return the files that a scan reads."""

    @abstractmethod
    def needed_bytes(self) -> int:
        """Return the bytes of the files that a scan must read at least."""

    def stored_bytes(self) -> int:
        return residence.size_of(self._files())

    def make_cold(self) -> Cold:
        needed = self.needed_bytes()  # the computation may read the files
        residence.drop(self._files())
        remaining = residence.resident_bytes(self._files())
        return Cold(remaining, remaining, needed)

    def grown_bytes(self) -> int:
        return residence.resident_bytes(self.scanned_files())

    def drop(self) -> None:
        """Do nothing: the drop deletes the whole volume without a pod."""

    def _files(self) -> list[Path]:
        if not (files := residence.files_of(self._folder)):
            raise StoreRefused(
                f"What was written is not there: {self._folder} has no files. Was the volume lost?"
            )
        return files
