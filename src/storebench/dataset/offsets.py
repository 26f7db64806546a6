"""Find the bytes of a range of rows in a dataset's CSV, so that a pod reads its share of the rows without the rows before."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from storebench.errors import StoreRefused

if TYPE_CHECKING:
    from storebench.dataset.manifest import Manifest

STEP_ROWS = 10_000  # a manifest has the offset of every 10,000th row: 1.3 MB for a billion rows
BLOCK_BYTES = 1 << 22  # of a scan: bounds its arrays
LINE_BREAK, QUOTE = b'\n"'


@dataclass(frozen=True)
class RowBytes:
    """The bytes of a CSV that contain a range of rows. `skip`: number of whole rows in these bytes before the first row of the range."""

    begin: int
    end: int
    skip: int = 0


class RowOffsets:
    """Collect the byte offset of every STEP_ROWS-th row of a CSV with a header, while the CSV is made or read.

    A row ends at a line break with an even number of quotes before it, as in `storebench.dataset.typed`.
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._bytes = self._quotes = 0
        self._records = 0  # complete records so far, with the header

    def update(self, data: bytes | bytearray) -> None:
        """Add the next bytes of the CSV. A row may begin in one call and end in a later one."""
        for first in range(0, len(data), BLOCK_BYTES):
            self._add(memoryview(data)[first : first + BLOCK_BYTES])

    def offsets(self) -> tuple[int, ...]:
        """Return the offsets of the rows 0, STEP_ROWS, 2 * STEP_ROWS, …: one for each such row of the CSV."""
        return tuple(start for start in self._starts if start < self._bytes)

    def _add(self, block: memoryview) -> None:
        values = np.frombuffer(block, dtype=np.uint8)
        breaks, quotes = np.flatnonzero(values == LINE_BREAK), np.flatnonzero(values == QUOTE)
        before = np.searchsorted(quotes, breaks) + self._quotes
        ends = breaks[before % 2 == 0] + (self._bytes + 1)
        # The record with the number n (the header has 0) begins at the end of the record n - 1, and is the row n - 1.
        first = -self._records % STEP_ROWS
        self._starts += ends[first::STEP_ROWS].tolist()
        self._records += len(ends)
        self._quotes += len(quotes)
        self._bytes += len(values)


def header_bytes(names: Sequence[str]) -> bytes:
    """Return the first line of a CSV with these columns."""
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\n").writerow(names)
    return line.getvalue().encode()


def bytes_of(manifest: Manifest, rows: range) -> RowBytes:
    """Return the bytes of the CSV that contain the rows with these numbers.

    All rows of a generated dataset have the same length. The offsets of other rows are in the manifest. Raises StoreRefused if the manifest
    has no offsets, or offsets that cannot be right.
    """
    if manifest.file is None:
        first = len(header_bytes([field.name for field in manifest.schema]))
        row_bytes, remainder = divmod(manifest.bytes - first, manifest.rows)
        if remainder:
            raise StoreRefused(
                f"The manifest of {manifest.key} has {manifest.bytes:,} bytes for {manifest.rows:,} rows, which all have the same length:"
                " remove the dataset with `storebench clean`, and start another run"
            )
        return RowBytes(first + rows.start * row_bytes, first + rows.stop * row_bytes)
    offsets = manifest.offsets
    if offsets is None:
        raise StoreRefused(
            f"The manifest of {manifest.key} does not say where its rows begin, because an earlier version made it: several pods cannot"
            " share its rows. Start another run, which adds the offsets, or measure with pods=1"
        )
    if len(offsets) != -(-manifest.rows // STEP_ROWS):
        raise StoreRefused(
            f"The manifest of {manifest.key} has {len(offsets):,} offsets of rows for {manifest.rows:,} rows: remove the dataset with"
            " `storebench clean`, and start another run"
        )
    step, skip = divmod(rows.start, STEP_ROWS)
    following = -(-rows.stop // STEP_ROWS)
    return RowBytes(offsets[step], offsets[following] if following < len(offsets) else manifest.bytes, skip)
