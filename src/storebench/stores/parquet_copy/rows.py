"""The rows: random printable characters. Any range of rows of an iteration comes out the same, whoever makes it, and how many at a time.

A row has an `id`, which counts through all iterations, and `bytes`, printable characters of ASCII. They come from the generator Philox, whose key is
the seed and the iteration, and whose counter begins at a place of its own for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from storebench.dataset.checksum import GOLDEN, MASK, mix, mix_array

if TYPE_CHECKING:
    import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Ids = npt.NDArray[np.uint64]

SCHEMA = "id bigint, bytes binary"
# Of each byte a printable character: 32 to 126, nearly as often as each other
PRINTABLE = np.array([32 + value * 95 // 256 for value in range(256)], dtype=np.uint8)
STEP_BYTES = 32  # what the generator gives for each step of its counter
BATCH_BYTES = 4 << 20  # of rows that are made or checked at once


@dataclass(frozen=True)
class Rows:
    """The generated rows: in each of `iterations`, `rows` rows of `record_bytes` each."""

    seed: int
    iterations: int
    rows: int
    record_bytes: int

    @property
    def total(self) -> int:
        """Rows of all iterations."""
        return self.iterations * self.rows

    @property
    def total_bytes(self) -> int:
        """Bytes of the values `bytes` of all rows."""
        return self.total * self.record_bytes

    @property
    def batch_rows(self) -> int:
        """How many are made or checked at once."""
        return max(1, BATCH_BYTES // self.record_bytes)

    def made(self, first: int, count: int) -> Bytes:
        """The values `bytes` of the rows with the ids from `first` on, as an array of shape (count, record_bytes)."""
        parts = []
        while count:
            iteration, row = divmod(first, self.rows)
            here = min(count, self.rows - row)
            parts.append(self._of_iteration(iteration, row, here))
            first, count = first + here, count - here
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    def _of_iteration(self, iteration: int, row: int, count: int) -> Bytes:
        steps = -(-self.record_bytes // STEP_BYTES)
        generator = np.random.Philox(key=np.array([self.seed, iteration], dtype=np.uint64))
        generator.advance(row * steps)
        words = generator.random_raw(count * steps * (STEP_BYTES // 8)).astype("<u8", copy=False)
        found = words.view(np.uint8).reshape(count, steps * STEP_BYTES)[:, : self.record_bytes]
        return PRINTABLE[found]

    def batches(self, first: int, count: int) -> Iterator[tuple[int, Bytes]]:
        """Yield batches of rows, each with the id of its first row."""
        for start in range(first, first + count, self.batch_rows):
            yield start, self.made(start, min(self.batch_rows, first + count - start))

    def values(self, iteration: int) -> list[tuple[int, bytes]]:
        """The rows of one iteration as Python objects."""
        return [
            (start + n, value.tobytes())
            for start, values in self.batches(iteration * self.rows, self.rows)
            for n, value in enumerate(values)
        ]

    def record_batches(self, ids: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of `ids` for `DataFrame.mapInArrow`. The ids of a batch are consecutive."""
        import pyarrow as pa

        for batch in ids:
            if not batch.num_rows:
                continue
            first = batch.column(0)[0].as_py()
            for start, values in self.batches(first, batch.num_rows):
                yield pa.RecordBatch.from_arrays(
                    [pa.array(np.arange(start, start + len(values))), binary(values)], names=["id", "bytes"]
                )

    def checksum(self) -> Checksum:
        """Return the expected checksum of all rows."""
        found = Checksum(self.record_bytes)
        for start, values in self.batches(0, self.total):
            found.add(np.arange(start, start + len(values), dtype=np.uint64), values)
        return found


class Checksum:
    """An order-independent checksum of rows: how many they are, and the sum of a number for each row, modulo 2**64.

    A row's number mixes its id with the sum of the words of its bytes, each word times an odd number of its own. It finds accidents, not forgeries:
    any one changed word, and what moved from row to row.
    """

    def __init__(self, record_bytes: int) -> None:
        self.record_bytes = record_bytes
        self.rows = 0
        self.sum = 0
        words = -(-record_bytes // 8)
        self._multipliers = np.array(
            [mix(GOLDEN * (n + 1) & MASK) | 1 for n in range(words)], dtype=np.uint64
        )

    def add(self, ids: Ids, values: Bytes) -> None:
        """Rows: their ids, and their bytes of the shape (rows, record_bytes)."""
        words = len(self._multipliers)
        padded = np.zeros((len(values), words * 8), dtype=np.uint8)
        padded[:, : self.record_bytes] = values
        sums = (padded.view("<u8") * self._multipliers).sum(axis=1, dtype=np.uint64)
        of_ids = mix_array(ids.astype(np.uint64) + np.uint64(GOLDEN))
        self.sum = (self.sum + int(mix_array(sums + of_ids).sum(dtype=np.uint64))) & MASK
        self.rows += len(values)

    def include(self, rows: int, total: int) -> None:
        """Other rows, whose checksum is known."""
        self.rows += rows
        self.sum = (self.sum + total) & MASK

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Rows as Arrow has them. Raises ValueError for what is no row of the study."""
        ids, values = batch.column("id"), batch.column("bytes")
        if ids.null_count or values.null_count:
            raise ValueError("there are rows without an id or without bytes")
        self.add(ids.to_numpy().astype(np.uint64), matrix(values, self.record_bytes))

    def __str__(self) -> str:
        return f"{self.sum:016x}"


# What executors call is here, as a worker of theirs imports this module for it, and as little more as can be.


def made(rows: Rows, ids: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of these ids."""
    return rows.record_batches(ids)


def summed(rows: Rows, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row: how many rows there are in a task, and their checksum."""
    import pyarrow as pa

    found = Checksum(rows.record_bytes)
    for batch in batches:
        found.add_batch(batch)
    yield pa.RecordBatch.from_pydict({"rows": [found.rows], "sum": [str(found)]})


def binary(values: Bytes) -> pa.Array[Any]:
    """Values of the same length as an array of Arrow, without a copy."""
    import pyarrow as pa

    count, length = values.shape
    offsets = np.arange(0, (count + 1) * length, length, dtype=np.int32)
    data = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def matrix(values: pa.Array[Any], length: int) -> Bytes:
    """The other way. Raises ValueError where values have another length."""
    import pyarrow as pa

    values = values.cast(pa.binary())
    _, offsets, data = values.buffers()
    places = np.frombuffer(offsets, dtype=np.int32)[values.offset : values.offset + len(values) + 1]
    if len(values) and (np.diff(places) != length).any():
        raise ValueError(f"there are rows whose bytes are not {length:,}")
    if not len(values):
        return np.empty((0, length), dtype=np.uint8)
    found = np.frombuffer(data, dtype=np.uint8)[places[0] : places[-1]]
    return found.reshape(len(values), length)
