"""wendelin.core, summed by pandas."""

from __future__ import annotations

from storebench.stores.column_scan.wendelin import WendelinStore


class WendelinPandas(WendelinStore):
    """The sum of a frame's column by pandas. Each sum creates a frame that shares the array's memory, as in the study."""

    name = "wendelin-pandas"
    by = "pandas"
