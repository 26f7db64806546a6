"""Delta Standalone: the original study's reader of Delta tables, which has ended with Delta Lake 3."""

from __future__ import annotations

from storebench.stores.bulk_write_read.delta_reader import DeltaReader


class DeltaStandalone(DeltaReader):
    """`reference` is the study's: open the log's snapshot and go over its rows, in one thread. There is no other way.

    It reads timestamps as Spark writes them (INT96) and no others.
    """

    name = "delta-standalone"
    delivers = ("rows in the JVM",)
