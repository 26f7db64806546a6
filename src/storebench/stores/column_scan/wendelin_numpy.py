"""wendelin.core, summed by NumPy."""

from __future__ import annotations

from storebench.stores.column_scan.wendelin import WendelinStore


class WendelinNumpy(WendelinStore):
    """The sum of the array's column by NumPy, as in the study."""

    name = "wendelin-numpy"
    by = "numpy"
