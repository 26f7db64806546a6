"""Turn the dataset's rows into documents with typed values, for stores of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from storebench.stores.bulk_write_read.source import Source

Document = dict[str, Any]


def documents(source: Source, rows: int) -> Iterator[list[Document]]:
    """Return an iterator over the rows in lists of up to `rows` documents. A null is no field. A decimal is a double, which holds its at most eight digits."""
    return map(documents_of, source.tables(rows))


def documents_of(table: pa.Table) -> list[Document]:
    """Return the rows of an Arrow table as documents, as `documents` does."""
    columns = {name: _typed(column) for name, column in zip(table.column_names, table.columns, strict=True)}
    return [
        {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        for row in zip(*columns.values(), strict=True)
    ]


def _typed(column: Any) -> Sequence[Any]:
    """Return the values of an Arrow column as Python values that BSON and JSON can hold."""
    return list(map(_value, column.to_pylist()))


def _value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time(), UTC)
    return value
