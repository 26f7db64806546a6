"""HDFS. With checksums each block has a CRC32C of every 512 bytes, which every reader checks; without there is none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from storebench.connection import Connection
from storebench.spark.filesystems import hdfs
from storebench.stores.base import Durability
from storebench.stores.parquet_copy.base import ParquetStore
from storebench.stores.parquet_copy.webhdfs import WebHdfs


class Hdfs(ParquetStore):
    """What Spark has left is read back by WebHDFS and pyarrow."""

    name = "hdfs"
    connection = "hdfs"

    @property
    def _server(self) -> Connection:
        assert self.server is not None
        return self.server

    @cached_property
    def file_system(self) -> hdfs.Hdfs:
        return hdfs.Hdfs(self._server, checksum=self.checksum)

    @cached_property
    def files(self) -> WebHdfs:
        return WebHdfs(self._server)

    def version(self) -> tuple[str, str]:
        return "HDFS", self.files.version()

    def server_settings(self) -> Mapping[str, str]:
        return {"dfs.replication": str(self.files.copies), **self.files.settings()}

    def durability(self) -> Durability:
        synced = self.files.settings().get("dfs.datanode.synconclose", "unknown")
        kind = {"true": "disk", "false": "memory"}.get(synced, "unknown")
        stated = f"dfs.replication={self.files.copies}, dfs.datanode.synconclose={synced}"
        return Durability(kind, stated)  # type: ignore[arg-type]
