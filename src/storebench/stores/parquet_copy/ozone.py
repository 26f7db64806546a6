"""Ozone."""

from __future__ import annotations

from storebench.stores.parquet_copy.served import ServedStore


class Ozone(ServedStore):
    """Ozone. Files are read back with Ozone's client without Spark, and pyarrow."""

    name = "ozone"
    connection = "ozone"
