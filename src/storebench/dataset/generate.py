"""Generates rows of the dataset: any range of rows, in any order, always the same bytes.

NumPy works on blocks of rows: it draws an entry of each piece (storebench.dataset.layout) for each row, copies the
entries' bytes into a matrix with one row for each row, and squeezes the padding out. The checksums are sums of table
entries, too: no text is hashed. docs/decisions/0003 has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from storebench.dataset.checksum import BASE, GOLDEN, MASK, TableChecksum, mix, mix_array
from storebench.dataset.layout import layout
from storebench.dataset.pieces import NULL_ONE_IN, Column, Piece, columns
from storebench.dataset.schema import FIELD_NAMES
from storebench.errors import SpecError

GENERATOR_VERSION = "1"  # raised when the code changes; the bytes change with the schema version only
BLOCK_ROWS = 20_000
MAX_ROWS = 1_000_000_000
MAX_SEED = 2**63 - 1
ESTIMATED_ROW_BYTES = 460
DRAW_BITS = 16  # of the random word that pick an entry
DRAWS = 64 // DRAW_BITS

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chunk:
    """Some rows: their CSV without header, and their checksums."""

    csv: bytes
    checksums: TableChecksum


@dataclass(frozen=True)
class _Plan:
    pieces: tuple[Piece, ...]
    columns: tuple[tuple[Column, ...], ...]  # of each piece
    dtype: np.dtype[np.void]  # of a row of the matrix; its fields overlap


def header() -> bytes:
    """The CSV's first line."""
    return (",".join(FIELD_NAMES) + "\n").encode()


def check(rows: int, seed: int) -> None:
    """Raises SpecError for rows or a seed that no dataset can have."""
    if not 1 <= rows <= MAX_ROWS:
        raise SpecError(f"rows must be from 1 to {MAX_ROWS:,}, not {rows:,}")
    if not 0 <= seed <= MAX_SEED:
        raise SpecError(f"seed must be from 0 to {MAX_SEED} (2**63 - 1), not {seed}")


def generate_chunk(seed: int, start: int, stop: int) -> Chunk:
    """Rows `start` to `stop` - 1 of the dataset with `seed`. A row does not depend on how many there are.

    Raises SpecError for a range or seed outside of what a dataset can have.
    """
    check(stop, seed)
    if not 0 <= start < stop:
        raise SpecError(f"a chunk's rows must begin at 0 or later and before its end: {start:,} to {stop:,}")
    checksums = TableChecksum()
    # one matrix for all blocks: fresh memory of this size costs as much as all the work that is done in it
    scratch = _Scratch(min(BLOCK_ROWS, stop - start))
    blocks = [
        _block(seed, first, min(first + BLOCK_ROWS, stop), scratch, checksums)
        for first in range(start, stop, BLOCK_ROWS)
    ]
    return Chunk(b"".join(blocks), checksums)


class _Scratch:
    """The matrix of a block, and where in it there is something."""

    def __init__(self, rows: int) -> None:
        self.matrix = np.empty(rows, dtype=_plan().dtype)
        self.bytes = self.matrix.view(np.uint8)
        self.filled = np.empty(len(self.bytes), dtype=np.bool_)

    def squeezed(self, rows: int) -> memoryview:
        """The bytes of the first `rows` rows without the padding."""
        size = rows * self.matrix.itemsize
        filled = np.not_equal(self.bytes[:size], 0, out=self.filled[:size])
        return self.bytes[:size][filled].data


def _block(seed: int, start: int, stop: int, scratch: _Scratch, checksums: TableChecksum) -> memoryview:
    plan = _plan()
    draws = _Draws(seed, start, stop)
    matrix = scratch.matrix[: stop - start]
    combined = np.zeros(stop - start, dtype=np.uint64)
    shares = nulls = combined
    for piece, piece_columns in zip(plan.pieces, plan.columns, strict=True):
        if piece.divisor:
            picked = (draws.numbers // np.uint64(piece.divisor) % np.uint64(piece.size)).view(np.int64)
        else:
            picked = draws.below(piece.size)
        if piece.nullable:
            if piece.first:  # all parts of a field are null together
                nulls = draws.below(NULL_ONE_IN) == 0
            picked[nulls] = piece.size
        for column in piece_columns:
            matrix[f"{column.offset}"] = column.table.take(picked)
        if piece.part:
            share = piece.sums[0].take(picked)
            shares = share if piece.first else np.add(shares, share, out=shares)
            if piece.last:
                shares += np.uint64(GOLDEN)
                checksums.add_field(piece.fields[0], mix_array(shares), combined)
        else:
            for field, hashes in zip(piece.fields, piece.sums, strict=True):
                checksums.add_field(field, hashes.take(picked), combined)
    checksums.add_rows(combined)
    return scratch.squeezed(stop - start)


class _Draws:
    """Random numbers for rows, which depend on seed, row and the number of the draw only."""

    def __init__(self, seed: int, start: int, stop: int) -> None:
        self.numbers = np.arange(start, stop, dtype=np.uint64)
        self._steps = (self.numbers + np.uint64(1)) * np.uint64(GOLDEN)
        self._seed = mix(seed)
        self._drawn = 0
        self._word = self.numbers

    def below(self, size: int) -> Indices:
        """A number from 0 to `size` - 1 for each row."""
        word, part = divmod(self._drawn, DRAWS)
        if part == 0:  # splitmix64 of the row's number, from a start that depends on seed and word
            begin = mix((self._seed + (word + 1) * BASE) & MASK)
            self._word = mix_array(self._steps + np.uint64(begin))
        self._drawn += 1
        bits = self._word >> np.uint64(part * DRAW_BITS)
        bits &= np.uint64((1 << DRAW_BITS) - 1)
        bits *= np.uint64(size)
        bits >>= np.uint64(DRAW_BITS)
        return bits.view(np.int64)


@cache
def _plan() -> _Plan:
    pieces = layout()
    placed = list(columns(pieces))
    dtype = np.dtype(
        {
            "names": [f"{column.offset}" for column in placed],
            "formats": [column.table.dtype for column in placed],
            "offsets": [column.offset for column in placed],
        }
    )
    of_piece = [tuple(column for column in placed if column.piece == n) for n in range(len(pieces))]
    return _Plan(pieces, tuple(of_piece), dtype)
