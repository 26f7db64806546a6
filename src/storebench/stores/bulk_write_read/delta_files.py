"""Delta Lake tables in a distributed file system instead of S3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from storebench.errors import StoreRefused, StoreUnreachable
from storebench.stores.base import Durability
from storebench.stores.bulk_write_read.delta import DeltaStore
from storebench.stores.caches import reconnect
from storebench.stores.file_servers import FileServer, file_server
from storebench.stores.files import Files
from storebench.stores.spark import SparkDriver

if TYPE_CHECKING:
    from deltalake import DeltaTable

LOG = "_delta_log"


class DeltaOnFiles(SparkDriver, DeltaStore):
    """A store of Delta tables on a file server. Verification copies the table's files without Spark, and reads the copy with delta-rs."""

    figures_cover = "client"  # the file system's servers do a part of the work
    counters = (*SparkDriver.counters, *DeltaStore.counters)
    kind: str  # kind of the file system: a key of storebench.stores.file_servers.KINDS

    @cached_property
    def file_server(self) -> FileServer:
        """Return the file server that holds the table."""
        assert self.server is not None
        return file_server(self.kind, self.server, lambda: self._session)

    @property
    def key(self) -> str:
        return f"storebench/{self.target}"

    def uri(self, scheme: str = "") -> str:
        return self.file_server.file_system.uri(self.key)

    def durability(self) -> Durability:
        return self.file_server.durability()

    def prepare(self) -> None:
        self.file_server.prepare()
        super().prepare()

    def check_table(self) -> None:
        if not self.file_server.files.entries(f"{self.key}/{LOG}"):
            raise StoreRefused(
                f"There is no Delta table at {self.uri()}: it was never written, or it was removed"
            )

    @property
    def _files(self) -> Files:
        return self.file_server.files

    def open_table(self) -> DeltaTable:
        from deltalake import DeltaTable

        return DeltaTable(self._copy.name)

    def needed_bytes(self) -> int:
        """Return the bytes of one copy of the data files."""
        return sum((self.file_server.files.entries(self.key) or {}).values())

    @contextmanager
    def away(self) -> Iterator[None]:
        """Wait at the end until the servers serve: clients reconnect themselves, but a NameNode answers before it leaves safe mode."""
        yield
        reconnect(self.file_server.files.check, (StoreUnreachable, StoreRefused))

    @cached_property
    def _copy(self) -> TemporaryDirectory[str]:
        """Copy the table's files to a local folder, whose only subfolder is the log's."""
        copy = TemporaryDirectory(prefix="table-")
        for folder in ("", LOG):
            to = Path(copy.name, folder)
            to.mkdir(exist_ok=True)
            source = f"{self.key}/{folder}".rstrip("/")
            for name, size in (self.file_server.files.entries(source) or {}).items():
                if size:
                    (to / name).write_bytes(self.file_server.files.read(f"{source}/{name}"))
        return copy
