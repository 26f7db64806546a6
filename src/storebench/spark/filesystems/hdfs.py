"""HDFS, through Hadoop's own client."""

from __future__ import annotations

import os

from storebench.connection import Connection
from storebench.spark.filesystems.base import FileSystem

PORT = 8020  # the NameNode's
HADOOP = "hadoop"  # in a connection's extra: more settings of Hadoop's client, as an object
USER = "HADOOP_USER_NAME"
# The client's patience, the same as with S3. By default the client retries for a quarter of an hour.
PATIENCE = {
    "ipc.client.connect.timeout": "10000",
    "ipc.client.connect.max.retries": "3",
    "ipc.client.connect.max.retries.on.timeouts": "3",
}


class Hdfs(FileSystem):
    """The HDFS of a NameNode. Without `checksum`, blocks are written without checksums, so that no read can check them."""

    def __init__(self, connection: Connection, *, checksum: bool = True) -> None:
        self._connection = connection
        self._checksum = "CRC32C" if checksum else "NULL"

    def uri(self, path: str) -> str:
        return f"hdfs://{self._connection.where(PORT)}/{path}"

    def settings(self) -> dict[str, str]:
        of_user = self._connection.extra.get(HADOOP) or {}
        hadoop = {**PATIENCE, **of_user, "dfs.checksum.type": self._checksum}
        user = {f"spark.executorEnv.{USER}": self._connection.login} if self._connection.login else {}
        return {f"spark.hadoop.{name}": str(value) for name, value in hadoop.items()} | user

    def log_in(self) -> None:
        """Set the user. Without a login, HDFS takes the name of the pod's user."""
        if self._connection.login:
            os.environ[USER] = self._connection.login
