"""The base class of stores whose file system has its own servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from storebench.spark.filesystems.base import FileSystem
from storebench.stores.base import Durability
from storebench.stores.file_servers import FileServer, file_server
from storebench.stores.files import Files
from storebench.stores.parquet_copy.base import ParquetStore


class ServedStore(ParquetStore):
    """A store on a file server, whose kind is the connection's name. A fault is of a DataNode, while files are copied."""

    faults = ("kill", "pause")

    @cached_property
    def _file_server(self) -> FileServer:
        assert self.server is not None and self.connection is not None
        return file_server(self.connection, self.server, lambda: self._session, checksum=self.checksum)

    @property
    def file_system(self) -> FileSystem:
        return self._file_server.file_system

    @property
    def files(self) -> Files:
        return self._file_server.files

    def begin(self, file_systems: Sequence[FileSystem]) -> None:
        """Start the session, and prepare the file server: without a bucket, Ozone's client retries the first look for seconds."""
        super().begin(file_systems)
        self._file_server.prepare()

    def version(self) -> tuple[str, str]:
        return self._file_server.title, self._file_server.version()

    def server_settings(self) -> Mapping[str, str]:
        return self._file_server.settings()

    def promise(self, fault: str) -> str | None:
        """Return what the file server guarantees under a fault of one DataNode.

        HDFS acknowledges a packet when all DataNodes of its pipeline have it (HDFS Architecture, Replication Pipelining); Ozone's Ratis
        when a majority of three has it. A single DataNode does not sync a packet before the acknowledgement.
        """
        if (copies := self._file_server.copies) > 1:
            return f"more than one of {copies} DataNodes has each acknowledged packet, and the fault is of one DataNode"
        return "a paused DataNode keeps its memory" if fault == "pause" else None

    def durability(self) -> Durability:
        return self._file_server.durability()
