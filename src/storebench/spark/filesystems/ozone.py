"""Ozone, through its own client for Hadoop: `ofs`, whose paths begin with a volume and a bucket."""

from __future__ import annotations

import os

from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.spark.filesystems.base import FileSystem
from storebench.spark.filesystems.hdfs import HADOOP, PATIENCE, USER

PORT = 9862  # the OM's
BUCKET = "storebench/storebench"  # volume and bucket, unless the connection's schema names others; the client makes missing ones
JARS = "STOREBENCH_OZONE_JARS"  # the image's variable with the path of the client
OZONE_PATIENCE = {
    # The client waits 2 s, 4 s, 6 s, … between attempts. By default it tries 500 times, and gives up after days.
    "ozone.client.failover.max.attempts": "5",
}


class Ozone(FileSystem):
    """The Ozone of an OM. Without `checksum`, chunks are written without checksums, so that no read can check them.

    The client asks for three copies of each block, whatever the OM's default, unless the connection's extra sets `ozone.replication` among
    its settings of Hadoop.
    """

    def __init__(self, connection: Connection, *, checksum: bool = True) -> None:
        bucket = (connection.schema or BUCKET).strip("/")
        if bucket.count("/") != 1:
            raise SpecError(
                f"The schema of the connection {connection.name!r} is {connection.schema!r}: it has to be VOLUME/BUCKET"
            )
        self._connection, self._bucket = connection, bucket
        self._checksum = "CRC32" if checksum else "NONE"  # CRC32 is the client's default

    def uri(self, path: str) -> str:
        return f"ofs://{self._connection.where(PORT)}/{self._bucket}/{path}"

    def settings(self) -> dict[str, str]:
        of_user = self._connection.extra.get(HADOOP) or {}
        hadoop = {
            "fs.ofs.impl": "org.apache.hadoop.fs.ozone.RootedOzoneFileSystem",
            "fs.AbstractFileSystem.ofs.impl": "org.apache.hadoop.fs.ozone.RootedOzFs",  # for the commits of Delta Lake
            **PATIENCE,
            **OZONE_PATIENCE,
            **of_user,
            "ozone.client.checksum.type": self._checksum,
        }
        user = {f"spark.executorEnv.{USER}": self._connection.login} if self._connection.login else {}
        return {f"spark.hadoop.{name}": str(value) for name, value in hadoop.items()} | user

    def log_in(self) -> None:
        """Set the user. Without a login, Ozone takes the name of the pod's user."""
        if self._connection.login:
            os.environ[USER] = self._connection.login

    def jars(self) -> tuple[str, ...]:
        if not os.environ.get(JARS):
            raise SpecError(f"{JARS} is not set: this image has no client of Ozone. Build images/jvm again")
        return (os.environ[JARS],)
