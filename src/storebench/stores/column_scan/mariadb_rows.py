"""Convert columns to rows for MariaDB, and rows to columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storebench.stores.column_scan.table import BY_NAME, DATETIME, Column

if TYPE_CHECKING:
    import numpy as np

    from storebench.stores.column_scan.base import Columns

FILE_ROWS = 20_000
ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n"})


def batches(columns: Columns, size: int) -> Iterator[list[tuple[Any, ...]]]:
    """Yield lists of `size` rows of Python values. None is NULL."""
    rows = len(next(iter(columns.values())))
    for start in range(0, rows, size):
        part = (_plain(BY_NAME[name], values[start : start + size]) for name, values in columns.items())
        yield list(zip(*part, strict=True))


def _plain(column: Column, values: np.ndarray[Any, Any]) -> list[Any]:
    plain = values.tolist()
    if column.is_text:
        plain = [text.decode() for text in plain]
    return [value or None for value in plain] if column.nullable else plain


def write_file(path: Path, columns: Columns) -> None:
    """Write the rows to a file for LOAD DATA, with tabs between values."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for batch in batches(columns, FILE_ROWS):
            file.writelines("\t".join(map(_text, row)) + "\n" for row in batch)


def _text(value: Any) -> str:
    if value is None:
        return "\\N"
    return value.translate(ESCAPED) if isinstance(value, str) else str(value)


def selected(name: str) -> str:
    """Return the SQL expression that selects a column's values in the dataset's representation."""
    column = BY_NAME[name]
    if column.dtype == DATETIME:
        return f"TIMESTAMPDIFF(SECOND, '1970-01-01', `{name}`)"
    if column.nullable:
        return f"COALESCE(`{name}`, {chr(39) * 2 if column.is_text else 0})"
    return f"`{name}`"


def columns(
    names: Sequence[str], parts: Iterable[Sequence[Sequence[Any]]]
) -> Mapping[str, np.ndarray[Any, Any]]:
    """Return the columns of selected rows."""
    import numpy as np

    chunks: dict[str, list[np.ndarray[Any, Any]]] = {name: [] for name in names}
    for part in parts:
        for name, values in zip(names, zip(*part, strict=True), strict=True):
            column = BY_NAME[name]
            plain = [text.encode() for text in values] if column.is_text else values
            chunks[name].append(np.array(plain, "<i8" if column.dtype == DATETIME else column.dtype))
    return {
        name: np.concatenate(those).astype(BY_NAME[name].dtype) for name, those in chunks.items() if those
    }
