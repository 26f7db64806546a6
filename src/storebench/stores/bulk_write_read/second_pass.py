"""Compute checksums of rows in the executors' Python workers, for the second pass of Spark's reads."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from storebench.dataset import values
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.schema import Field

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_ROWS = 10_000
SCHEMA = "seen binary"  # the schema of the rows of `of_batches`


class Seen:
    """The checksum of the rows that a task has seen. `problem`: why a row is no row of the dataset.

    Pickling, which returns a task's result, first adds the pending rows to the checksum.
    """

    def __init__(self, schema: Sequence[Field]) -> None:
        self.schema = schema
        self.checksum = TableChecksum([field.name for field in schema])
        self.problem = ""
        self._held: list[Any] = []

    def add_row(self, row: Any) -> None:
        """Add a row of Spark: a tuple with the names of its fields in `__fields__`."""
        self._held.append(row)
        if len(self._held) == CHUNK_ROWS:
            self._add_up()

    def add_batch(self, batch: pa.RecordBatch) -> None:
        from storebench.dataset import typed

        with self._problems():
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            self.checksum.update(typed.canonical(columns, self.schema))

    def add(self, other: Seen) -> None:
        """Add the checksum of another task."""
        self.checksum.add(other.checksum)
        self.problem = self.problem or other.problem

    def _add_up(self) -> None:
        rows, self._held = self._held, []
        with self._problems():
            columns = dict(zip(rows[0].__fields__, zip(*rows, strict=True), strict=True))
            self.checksum.update(values.canonical(columns, self.schema))

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """Record an error as `problem`. A raised error would reach the driver as a failure of Spark, not as wrong data."""
        try:
            yield
        except (KeyError, TypeError, ValueError) as error:
            self.problem = self.problem or str(error)

    def __getstate__(self) -> dict[str, Any]:
        if self._held:
            self._add_up()
        return self.__dict__


class SeenSum:
    """An accumulator (pyspark.AccumulatorParam) that adds rows in a task, and the tasks' sums in the driver."""

    def zero(self, value: Seen) -> Seen:
        return Seen(value.schema)

    def addInPlace(self, seen: Seen, more: Any) -> Seen:  # noqa: N802 - the name is Spark's
        if isinstance(more, Seen):
            seen.add(more)
        else:
            seen.add_row(more)
        return seen


def of_batches(schema: Sequence[Field]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow` that returns a row of SCHEMA: the pickled checksum of a task's rows."""

    def sum_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        seen = Seen(schema)
        for batch in batches:
            for start in range(0, batch.num_rows, CHUNK_ROWS):
                seen.add_batch(batch.slice(start, CHUNK_ROWS))
        yield pa.record_batch({"seen": [pickle.dumps(seen)]})

    return sum_batches


def total_of(rows: list[Any], schema: Sequence[Field]) -> Seen:
    """Return the sum of all tasks' checksums. `rows`: rows of SCHEMA."""
    total = Seen(schema)
    for row in rows:
        total.add(pickle.loads(bytes(row.seen)))
    return total
