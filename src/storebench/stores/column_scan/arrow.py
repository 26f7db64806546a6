"""Convert the table to Arrow and back. The dataset represents NULL as 0 or as no bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from storebench.stores.column_scan.table import BY_NAME, Column

if TYPE_CHECKING:
    import numpy as np


def table(columns: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """Return the columns as a pyarrow.Table."""
    import pyarrow as pa

    return pa.table({name: _array(BY_NAME[name], values) for name, values in columns.items()})


def _array(column: Column, values: np.ndarray[Any, Any]) -> Any:
    import numpy as np
    import pyarrow as pa

    empty = (values == np.zeros(1, column.dtype)[0]) if column.nullable else None
    if column.is_text:
        return pa.array(values, mask=empty).cast(pa.string())
    if column.dtype == "|i1":
        return pa.array(values.astype(bool))
    return pa.array(values, mask=empty)


def values(array: Any, column: Column) -> np.ndarray[Any, Any]:
    """Convert a pyarrow.ChunkedArray to the dataset's values of that column."""
    import numpy as np
    import pyarrow as pa

    if column.is_text:
        texts = array.cast(pa.string()).fill_null("").to_pylist()
        return np.array([text.encode() for text in texts], column.dtype)
    if column.nullable:
        array = array.fill_null(0)
    if column.dtype == "|i1":
        array = array.cast(pa.int8())
    if column.dtype.startswith("<M8"):
        array = array.cast(pa.timestamp("s"))
    numbers: np.ndarray[Any, Any] = array.to_numpy()
    return numbers.astype(column.dtype)
