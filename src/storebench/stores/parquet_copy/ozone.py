"""The store Ozone."""

from __future__ import annotations

from storebench.stores.parquet_copy.served import ServedStore


class Ozone(ServedStore):
    """Ozone. Verification reads files with Ozone's client, without Spark, and pyarrow."""

    name = "ozone"
    connection = "ozone"
