"""The store HDFS."""

from __future__ import annotations

from storebench.stores.parquet_copy.served import ServedStore


class Hdfs(ServedStore):
    """HDFS. Verification reads files with WebHDFS and pyarrow."""

    name = "hdfs"
    connection = "hdfs"
