"""wendelin.core, added up by NumPy."""

from __future__ import annotations

from storebench.stores.column_scan.wendelin import WendelinStore


class WendelinNumpy(WendelinStore):
    """The column of the array, as studied."""

    name = "wendelin-numpy"
    by = "numpy"
