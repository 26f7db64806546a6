"""Delta Kernel: the successor of Delta Standalone."""

from __future__ import annotations

from storebench.stores.delta_reader import DeltaReader


class DeltaKernel(DeltaReader):
    """`reference` goes over all rows in one thread; `tuned` over batches column by column, files in parallel threads."""

    name = "delta-kernel"
    clients = ("reference", "tuned")
