"""Distributed file systems: as Spark uses them, as an independent reader sees them, and the servers' own descriptions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from storebench.connection import Connection
from storebench.spark.filesystems import hdfs, ozone
from storebench.spark.filesystems.base import FileSystem
from storebench.stores.base import Durability
from storebench.stores.files import Files
from storebench.stores.hadoop_files import HadoopFiles
from storebench.stores.ozone_manager import REPLICATION, WRITE_SYNC, OzoneManager
from storebench.stores.webhdfs import SYNC_ON_CLOSE, WebHdfs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    Session = Callable[[], SparkSession | None]  # returns the store's session, None before its start


class FileServer(ABC):
    """The file system at the server of a connection. Without `checksum`, files are written without checksums."""

    title: ClassVar[str]  # the readable name
    file_system: FileSystem  # the file system for Spark
    files: Files  # the same file system through an independent client
    copies: int  # of each block that the client writes

    @abstractmethod
    def version(self) -> str:
        """Return the version that the server states."""

    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """Return the settings of client and server that affect the cost and the durability of a write."""

    @abstractmethod
    def durability(self) -> Durability:
        """Return the durability of a closed file."""

    def prepare(self) -> None:  # noqa: B027 - not all have such places
        """Make the place that has all folders, so that looking for a file that is not there finds none."""


class HdfsServer(FileServer):
    """HDFS. With checksums, each block has a CRC32C per 512 bytes, which every reader checks."""

    title = "HDFS"
    files: WebHdfs

    def __init__(self, connection: Connection, session: Session, *, checksum: bool = True) -> None:
        self.file_system = hdfs.Hdfs(connection, checksum=checksum)
        self.files = WebHdfs(connection)
        self.copies = self.files.copies

    def version(self) -> str:
        return self.files.version()

    def settings(self) -> Mapping[str, str]:
        return {"dfs.replication": str(self.files.copies), **self.files.settings()}

    def durability(self) -> Durability:
        return _promised("dfs.replication", str(self.files.copies), SYNC_ON_CLOSE, self.files.settings())


class OzoneFiles(HadoopFiles):
    """Files of Ozone over Ozone's own client, the only client that needs no further servers."""

    def __init__(self, file_system: FileSystem, session: Session, manager: OzoneManager) -> None:
        super().__init__(file_system, session)
        self._manager = manager

    def check(self) -> None:
        """Check that an OM answers. Raises a StorebenchError without the half minute of retries of Ozone's client."""
        self._manager.version()


class OzoneServer(FileServer):
    """Ozone. With checksums, each chunk has a CRC32 per 16 KiB, which every reader checks."""

    title = "Ozone"
    files: OzoneFiles

    def __init__(self, connection: Connection, session: Session, *, checksum: bool = True) -> None:
        self._manager = OzoneManager(connection)
        self.file_system = ozone.Ozone(connection, checksum=checksum)
        self.files = OzoneFiles(self.file_system, session, self._manager)
        self.copies = {"3": 3, "THREE": 3}.get(self._manager.replication, 1)

    def version(self) -> str:
        return self._manager.version()

    def settings(self) -> Mapping[str, str]:
        return {REPLICATION: self._manager.replication, **self._manager.settings()}

    def durability(self) -> Durability:
        return _promised(REPLICATION, self._manager.replication, WRITE_SYNC, self._manager.settings())

    def prepare(self) -> None:
        """Create the bucket, which Ozone otherwise creates with the first file. Without a bucket, Delta Lake retries each look for
        seconds.
        """
        self.files.make("")


# File servers by the names of their connections.
KINDS: Mapping[str, type[HdfsServer | OzoneServer]] = {"hdfs": HdfsServer, "ozone": OzoneServer}


def file_server(kind: str, connection: Connection, session: Session, *, checksum: bool = True) -> FileServer:
    """Return the file server of a kind in KINDS. Raises SpecError for a connection without a usable address."""
    return KINDS[kind](connection, session, checksum=checksum)


def _promised(replication: str, copies: str, sync: str, settings: Mapping[str, str]) -> Durability:
    synced = settings.get(sync, "unknown")
    kind = {"true": "disk", "false": "memory"}.get(synced, "unknown")
    return Durability(kind, f"{replication}={copies}, {sync}={synced}")  # type: ignore[arg-type]
