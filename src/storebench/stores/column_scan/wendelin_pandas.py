"""wendelin.core, added up by pandas."""

from __future__ import annotations

from storebench.stores.column_scan.wendelin import WendelinStore


class WendelinPandas(WendelinStore):
    """The column of a frame that is made of the array for each sum, and copies none of it, as studied."""

    name = "wendelin-pandas"
    by = "pandas"
