"""Generates rows of the dataset: any range of rows, in any order, always the same bytes.

All rows have the same length (storebench.dataset.pieces), so the CSV is a matrix with one row for each row. NumPy draws
an entry of each piece for each row of a block and copies the entries' bytes to their place. The checksums are sums of
table entries, too: no text is hashed. docs/decisions/0003 has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from storebench.dataset.checksum import BASE, GOLDEN, MASK, TableChecksum, mix, mix_array
from storebench.dataset.layout import layout
from storebench.dataset.pieces import Column, Piece, columns
from storebench.dataset.schema import FIELD_NAMES
from storebench.errors import SpecError

GENERATOR_VERSION = "1"  # raised when the code changes; the bytes change with the schema version only
BLOCK_ROWS = 5_000  # 2.4 MB of rows: all columns of a block are written while it is in the cache
MAX_ROWS = 1_000_000_000
MAX_SEED = 2**63 - 1
ESTIMATED_ROW_BYTES = 484  # exactly, but for the header
DRAW_BITS = 16  # of the random word that pick an entry
DRAWS = 64 // DRAW_BITS

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chunk:
    """A range of rows: their CSV without a header, and their checksums."""

    csv: bytearray
    checksums: TableChecksum


@dataclass(frozen=True)
class _Plan:
    pieces: tuple[Piece, ...]
    columns: tuple[tuple[Column, ...], ...]  # of each piece
    dtype: np.dtype[np.void]  # of a row; its fields overlap


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
    plan, checksums = _plan(), TableChecksum()
    data = bytearray((stop - start) * plan.dtype.itemsize)
    matrix = np.frombuffer(data, dtype=plan.dtype)
    for first in range(0, stop - start, BLOCK_ROWS):
        block = matrix[first : first + BLOCK_ROWS]
        _fill(block, plan, _Draws(seed, start + first, start + first + len(block)), checksums)
    return Chunk(data, checksums)


def _fill(matrix: npt.NDArray[np.void], plan: _Plan, draws: _Draws, checksums: TableChecksum) -> None:
    """Write a block of rows and add their checksums."""
    combined = np.zeros(len(matrix), dtype=np.uint64)
    shares = combined
    for piece, piece_columns in zip(plan.pieces, plan.columns, strict=True):
        entries = len(piece.csv)
        picked = draws.following(piece.divisor, entries) if piece.divisor else draws.below(entries)
        for column in piece_columns:
            matrix[column.name] = column.table.take(picked)
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


class _Draws:
    """Random numbers for rows, which depend on seed, row and the number of the draw only."""

    def __init__(self, seed: int, start: int, stop: int) -> None:
        self._numbers = np.arange(start, stop, dtype=np.uint64)
        self._steps = (self._numbers + np.uint64(1)) * np.uint64(GOLDEN)
        self._seed = mix(seed)
        self._drawn = 0
        self._word = self._numbers

    def following(self, divisor: int, size: int) -> Indices:
        """Return `row number // divisor % size` for each row, which is not random."""
        return (self._numbers // np.uint64(divisor) % np.uint64(size)).view(np.int64)

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
            "names": [column.name for column in placed],
            "formats": [column.table.dtype for column in placed],
            "offsets": [column.offset for column in placed],
            "itemsize": sum(piece.width for piece in pieces),
        }
    )
    of_piece = [tuple(column for column in placed if column.piece == n) for n in range(len(pieces))]
    return _Plan(pieces, tuple(of_piece), dtype)
