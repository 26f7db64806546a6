"""Generate the rows: random printable characters. A row depends only on seed and number, not on the process or batch that makes it.

A row has an `id`, numbered through all iterations, and `bytes`, printable ASCII characters. The generator is Philox: its key is the seed
and the iteration, and its counter has a separate range for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from storebench.dataset.checksum import GOLDEN, MASK, mix, mix_array

if TYPE_CHECKING:
    import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Ids = npt.NDArray[np.uint64]
C = TypeVar("C", bound="Checksum")

SCHEMA = "id bigint, bytes binary"
SIZES = ("iterations", "record_bytes")  # the axes that multiply the number of rows
# Map each byte to a printable character, 32 to 126, with nearly equal frequency.
PRINTABLE = np.array([32 + value * 95 // 256 for value in range(256)], dtype=np.uint8)
STEP_BYTES = 32  # bytes of the generator per step of its counter
BATCH_BYTES = 4 << 20  # bytes of rows to make or check at a time


@dataclass(frozen=True)
class Rows:
    """The generated rows: in each of `iterations`, `rows` rows of `record_bytes` each."""

    seed: int
    iterations: int
    rows: int
    record_bytes: int

    @property
    def total(self) -> int:
        """Return the number of rows of all iterations."""
        return self.iterations * self.rows

    @property
    def total_bytes(self) -> int:
        """Return the size of the values `bytes` of all rows, in bytes."""
        return self.total * self.record_bytes

    @property
    def batch_rows(self) -> int:
        """Return the number of rows to make or check at a time."""
        return max(1, BATCH_BYTES // self.record_bytes)

    def made(self, first: int, count: int) -> Bytes:
        """Return the values `bytes` of `count` rows from the id `first` on, as an array of shape (count, record_bytes)."""
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
        places = words.view(np.uint8).reshape(count, steps * STEP_BYTES)[:, : self.record_bytes]
        return PRINTABLE[places]

    def batches(self, first: int, count: int) -> Iterator[tuple[int, Bytes]]:
        """Yield batches of rows, each with the id of its first row."""
        for start in range(first, first + count, self.batch_rows):
            yield start, self.made(start, min(self.batch_rows, first + count - start))

    def values(self, iteration: int) -> list[tuple[int, bytes]]:
        """Return the rows of an iteration as Python objects."""
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
        return self.added_to(Checksum(self.record_bytes))

    def added_to(self, checksum: C) -> C:
        """Add all rows to a checksum. Return the checksum."""
        for start, values in self.batches(0, self.total):
            checksum.add(np.arange(start, start + len(values), dtype=np.uint64), values)
        return checksum


class Checksum:
    """An order-independent checksum of rows: the number of rows, and the sum of a hash of each row, modulo 2**64.

    A row's hash mixes its id with the weighted sum of the words of its bytes; the weights are distinct odd numbers. The checksum detects
    accidents, such as any changed word or values moved between rows, but no forgeries.
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
        """Add rows. `ids`: their ids. `values`: their bytes, of the shape (rows, record_bytes)."""
        words = len(self._multipliers)
        padded = np.zeros((len(values), words * 8), dtype=np.uint8)
        padded[:, : self.record_bytes] = values
        sums = (padded.view("<u8") * self._multipliers).sum(axis=1, dtype=np.uint64)
        of_ids = mix_array(ids.astype(np.uint64) + np.uint64(GOLDEN))
        self.add_hashes(mix_array(sums + of_ids))

    def add_hashes(self, hashes: Ids) -> None:
        """Add rows by their hashes."""
        self.sum = (self.sum + int(hashes.sum(dtype=np.uint64))) & MASK
        self.rows += len(hashes)

    def include(self, rows: int, total: int) -> None:
        """Add the known checksum of other rows."""
        self.rows += rows
        self.sum = (self.sum + total) & MASK

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Add the rows of an Arrow batch. Raises ValueError for a batch that has no rows of the study."""
        ids, values = batch.column("id"), batch.column("bytes")
        if ids.null_count or values.null_count:
            raise ValueError("there are rows without an id or without bytes")
        self.add(ids.to_numpy().astype(np.uint64), matrix(values, self.record_bytes))

    def __str__(self) -> str:
        return f"{self.sum:016x}"


class RowHashes(Checksum):
    """A checksum that also keeps the hash of each row: 8 bytes a row."""

    def __init__(self, record_bytes: int) -> None:
        super().__init__(record_bytes)
        self._parts: list[Ids] = []

    def add_hashes(self, hashes: Ids) -> None:
        super().add_hashes(hashes)
        self._parts.append(hashes)

    @property
    def hashes(self) -> Ids:
        """Return the hash of each row, in the order in which the rows were added."""
        return np.concatenate(self._parts) if self._parts else np.empty(0, dtype=np.uint64)


# The functions that executors call are in this module, because their workers import it: it must import little else.


def made(rows: Rows, ids: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of these ids."""
    return rows.record_batches(ids)


def summed(rows: Rows, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield one row: the number of rows of a task, and their checksum."""
    import pyarrow as pa

    checksum = Checksum(rows.record_bytes)
    for batch in batches:
        checksum.add_batch(batch)
    yield pa.RecordBatch.from_pydict({"rows": [checksum.rows], "sum": [str(checksum)]})


def binary(values: Bytes) -> pa.Array[Any]:
    """Convert values of equal length to an Arrow array without a copy."""
    import pyarrow as pa

    count, length = values.shape
    offsets = np.arange(0, (count + 1) * length, length, dtype=np.int32)
    data = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def matrix(values: pa.Array[Any], length: int) -> Bytes:
    """Convert an Arrow array to values of `length` bytes. Raises ValueError for other lengths."""
    import pyarrow as pa

    values = values.cast(pa.binary())
    _, offsets, data = values.buffers()
    places = np.frombuffer(offsets, dtype=np.int32)[values.offset : values.offset + len(values) + 1]
    if len(values) and (np.diff(places) != length).any():
        raise ValueError(f"there are rows whose bytes are not {length:,}")
    if not len(values):
        return np.empty((0, length), dtype=np.uint8)
    joined = np.frombuffer(data, dtype=np.uint8)[places[0] : places[-1]]
    return joined.reshape(len(values), length)
