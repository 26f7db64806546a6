"""Ozone. With checksums each chunk has a CRC32 of every 16 KiB, which every reader checks; without there is none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from storebench.connection import Connection
from storebench.spark.filesystems import ozone
from storebench.stores.base import Durability
from storebench.stores.parquet_copy.base import ParquetStore
from storebench.stores.parquet_copy.hadoop_files import HadoopFiles
from storebench.stores.parquet_copy.ozone_manager import REPLICATION, WRITE_SYNC, OzoneManager


class OzoneFiles(HadoopFiles):
    """By Ozone's own client: it is the only one that needs no more servers."""

    manager: OzoneManager

    def check(self) -> None:
        """Raises a StorebenchError where no OM answers. Ozone's client would try for half a minute."""
        self.manager.version()


class Ozone(ParquetStore):
    """What Spark has left is read back by Ozone's client without Spark, and pyarrow."""

    name = "ozone"
    connection = "ozone"

    @property
    def _server(self) -> Connection:
        assert self.server is not None
        return self.server

    @cached_property
    def file_system(self) -> ozone.Ozone:
        return ozone.Ozone(self._server, checksum=self.checksum)

    @cached_property
    def files(self) -> OzoneFiles:
        found = OzoneFiles(self.file_system, lambda: self._session)
        found.manager = self._manager
        return found

    @cached_property
    def _manager(self) -> OzoneManager:
        return OzoneManager(self._server)

    def version(self) -> tuple[str, str]:
        return "Ozone", self._manager.version()

    def server_settings(self) -> Mapping[str, str]:
        return {REPLICATION: self._manager.replication, **self._manager.settings()}

    def durability(self) -> Durability:
        synced = self._manager.settings().get(WRITE_SYNC, "unknown")
        kind = {"true": "disk", "false": "memory"}.get(synced, "unknown")
        stated = f"{REPLICATION}={self._manager.replication}, {WRITE_SYNC}={synced}"
        return Durability(kind, stated)  # type: ignore[arg-type]
