"""Arrow tables of the source's rows for the stores' clients, and Arrow data as canonical text for verification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from storebench.dataset.schema import Field
from storebench.stores.bulk_write_read.base import MICROSECONDS, VERIFY_CHUNK_ROWS, finer

if TYPE_CHECKING:
    import pyarrow as pa

    from storebench.attempt.clock import OperationClock
    from storebench.stores.bulk_write_read.source import Row, Source


def text_batches(source: Source, batch: int | None, clock: OperationClock) -> Iterator[Sequence[Row]]:
    """Yield the source's rows in lists of `batch` rows (None: one list), whose time is the source's."""
    if batch is None:
        yield list(clock.source(source.rows()))
    else:
        yield from clock.source(source.batches(batch))


def chunks(data: Any, schema: Sequence[Field]) -> Iterator[Mapping[str, Any]]:
    """Yield chunks of canonical text. `data`: an Arrow table or record batch of any fitting types."""
    import pyarrow as pa

    from storebench.dataset.typed import canonical

    for batch in pa.table(data).to_batches(max_chunksize=VERIFY_CHUNK_ROWS):
        yield canonical(dict(zip(batch.schema.names, batch.columns, strict=True)), schema)


def text_schema(names: Sequence[str]) -> pa.Schema:
    """Return the schema of `pyarrow.Table.from_pylist` of the source's rows: every field is text."""
    import pyarrow as pa

    return pa.schema([pa.field(name, pa.string()) for name in names])


def too_fine(schema: Sequence[Field], keeper: str) -> str:
    """Return why `keeper` cannot hold a field with nanoseconds; empty without such a field."""
    if name := next((field.name for field in schema if finer(field, MICROSECONDS)), None):
        return f"the column {name!r} has timestamps with nanoseconds, and {keeper} keeps microseconds. Round them, or make them text"
    return ""
