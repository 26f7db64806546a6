"""Ozone."""

from __future__ import annotations

from storebench.stores.parquet_copy.served import ServedStore


class Ozone(ServedStore):
    """What Spark has left is read back by Ozone's client without Spark, and pyarrow."""

    name = "ozone"
    connection = "ozone"
