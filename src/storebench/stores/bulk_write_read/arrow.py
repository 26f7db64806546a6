"""Arrow data as canonical text for verification, and the limits of typed Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storebench.dataset.schema import Field
from storebench.stores.bulk_write_read.base import MICROSECONDS, VERIFY_CHUNK_ROWS, finer


def chunks(data: Any, schema: Sequence[Field]) -> Iterator[Mapping[str, Any]]:
    """Yield chunks of canonical text. `data`: an Arrow table or record batch of any fitting types."""
    import pyarrow as pa

    from storebench.dataset.typed import canonical

    for batch in pa.table(data).to_batches(max_chunksize=VERIFY_CHUNK_ROWS):
        yield canonical(dict(zip(batch.schema.names, batch.columns, strict=True)), schema)


def too_fine(schema: Sequence[Field], keeper: str) -> str:
    """Return why `keeper` cannot hold a field with nanoseconds; empty without such a field."""
    if name := next((field.name for field in schema if finer(field, MICROSECONDS)), None):
        return f"the column {name!r} has timestamps with nanoseconds, and {keeper} keeps microseconds. Round them, or make them text"
    return ""
