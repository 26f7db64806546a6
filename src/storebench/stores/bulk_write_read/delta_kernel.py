"""Delta Kernel: the successor of Delta Standalone."""

from __future__ import annotations

from storebench.stores.bulk_write_read.delta_reader import DeltaReader


class DeltaKernel(DeltaReader):
    """Delta Kernel. `reference` iterates over all rows in one thread. `tuned` reads columnar batches with a thread for each core. The
    threads share the table's files, and make no rows.
    """

    name = "delta-kernel"
    clients = ("reference", "tuned")
    delivers = ("rows in the JVM", "columnar vectors")
