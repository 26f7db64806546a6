"""HDFS."""

from __future__ import annotations

from storebench.stores.parquet_copy.served import ServedStore


class Hdfs(ServedStore):
    """What Spark has left is read back by WebHDFS and pyarrow."""

    name = "hdfs"
    connection = "hdfs"
