"""Distributed file systems, which have servers of their own: as Spark uses them, as another reader sees them, and what they tell of themselves."""

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

    Session = Callable[[], SparkSession | None]  # the store's, as soon as there is one


class FileServer(ABC):
    """The file system at the server of a connection. Without `checksum` it is asked for none in what is written."""

    title: ClassVar[str]  # its name, for people
    file_system: FileSystem  # as Spark uses it
    files: Files  # the same, seen by another way

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
    """HDFS. With checksums, each block has a CRC32C per 512 bytes, which every reader checks; without, none."""

    title = "HDFS"
    files: WebHdfs

    def __init__(self, connection: Connection, session: Session, *, checksum: bool = True) -> None:
        self.file_system = hdfs.Hdfs(connection, checksum=checksum)
        self.files = WebHdfs(connection)

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
        """Raises a StorebenchError where no OM answers. Ozone's client would try for half a minute."""
        self._manager.version()


class OzoneServer(FileServer):
    """Ozone. With checksums, each chunk has a CRC32 per 16 KiB, which every reader checks; without, none."""

    title = "Ozone"
    files: OzoneFiles

    def __init__(self, connection: Connection, session: Session, *, checksum: bool = True) -> None:
        self._manager = OzoneManager(connection)
        self.file_system = ozone.Ozone(connection, checksum=checksum)
        self.files = OzoneFiles(self.file_system, session, self._manager)

    def version(self) -> str:
        return self._manager.version()

    def settings(self) -> Mapping[str, str]:
        return {REPLICATION: self._manager.replication, **self._manager.settings()}

    def durability(self) -> Durability:
        return _promised(REPLICATION, self._manager.replication, WRITE_SYNC, self._manager.settings())

    def prepare(self) -> None:
        """The bucket, which comes by itself only with the first file. Without it a look is an error, which Delta Lake tries again for seconds."""
        self.files.make("")


# By the names of the connections to them.
KINDS: Mapping[str, type[HdfsServer | OzoneServer]] = {"hdfs": HdfsServer, "ozone": OzoneServer}


def file_server(kind: str, connection: Connection, session: Session, *, checksum: bool = True) -> FileServer:
    """The one of this kind, of KINDS. Raises SpecError for a connection that leads to none."""
    return KINDS[kind](connection, session, checksum=checksum)


def _promised(replication: str, copies: str, sync: str, told: Mapping[str, str]) -> Durability:
    synced = told.get(sync, "unknown")
    kind = {"true": "disk", "false": "memory"}.get(synced, "unknown")
    return Durability(kind, f"{replication}={copies}, {sync}={synced}")  # type: ignore[arg-type]
