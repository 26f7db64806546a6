"""Delta Kernel: the successor of Delta Standalone."""

from __future__ import annotations

from storebench.stores.delta_reader import DeltaReader


class DeltaKernel(DeltaReader):
    """`reference` goes over all rows, in one thread."""

    name = "delta-kernel"
