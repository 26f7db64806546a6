"""Access files with a Hadoop client in a JVM, for file systems whose servers have no HTTP interface for files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storebench.spark import session as spark_session
from storebench.spark.filesystems.base import FileSystem
from storebench.stores.files import Files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX = "spark.hadoop."


class HadoopFiles(Files):
    """Files of a Hadoop file system, in the JVM of an existing Spark session or of an own session."""

    def __init__(self, file_system: FileSystem, session: Callable[[], SparkSession | None]) -> None:
        self._file_system, self._session = file_system, session

    def entries(self, folder: str) -> dict[str, int] | None:
        with spark_session.errors(f"Listing {folder}"):
            if not self._client.exists(self._path(folder)):
                return None
            statuses = self._client.listStatus(self._path(folder))
            return {
                str(status.getPath().getName()): int(status.getLen()) if status.isFile() else 0
                for status in list(statuses)
            }

    def read(self, path: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder, spark_session.errors(f"Reading {path}"):
            copy = Path(folder) / "copy"
            local = self._jvm.org.apache.hadoop.fs.Path(copy.as_uri())
            self._client.copyToLocalFile(
                False, self._path(path), local, True
            )  # the last argument: write no .crc file
            return copy.read_bytes()

    def disk_bytes(self, folder: str) -> int:
        """Return the bytes of a folder with all copies."""
        with spark_session.errors(f"Adding up {folder}"):
            return int(self._client.getContentSummary(self._path(folder)).getSpaceConsumed())

    def make(self, folder: str) -> None:
        """Create a folder and its parents."""
        with spark_session.errors(f"Making {folder}"):
            self._client.mkdirs(self._path(folder))

    def remove(self, folder: str) -> None:
        with spark_session.errors(f"Removing {folder}"):
            self._client.delete(self._path(folder), True)

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._file_system.uri(path))

    @cached_property
    def _client(self) -> Any:
        session = self._session()
        if session is not None:
            configuration = session.sparkContext._jsc.hadoopConfiguration()
        else:
            configuration = self._jvm.org.apache.hadoop.conf.Configuration()
            for name, value in self._file_system.settings().items():
                if name.startswith(PREFIX):
                    configuration.set(name.removeprefix(PREFIX), value)
        return self._path("").getFileSystem(configuration)

    @cached_property
    def _jvm(self) -> Any:
        session = self._session()
        if session is not None:
            return session._jvm
        from pyspark.java_gateway import launch_gateway

        self._file_system.log_in()
        os.environ |= spark_session.class_path([self._file_system])
        return launch_gateway().jvm  # the JVM ends with this process
