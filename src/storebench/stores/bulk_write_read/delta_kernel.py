"""Delta Kernel: the successor of Delta Standalone."""

from __future__ import annotations

from storebench.stores.bulk_write_read.delta_reader import DeltaReader


class DeltaKernel(DeltaReader):
    """`reference` goes over all rows, in one thread. `tuned` takes columnar batches, with a thread for each core, which take
    the table's files one by one; no row is made of them.
    """

    name = "delta-kernel"
    clients = ("reference", "tuned")
    delivers = ("rows in the JVM", "columnar vectors")
