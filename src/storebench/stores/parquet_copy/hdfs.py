"""HDFS."""

from __future__ import annotations

from storebench.stores.parquet_copy.served import ServedStore


class Hdfs(ServedStore):
    """HDFS. Files are read back with WebHDFS and pyarrow."""

    name = "hdfs"
    connection = "hdfs"
