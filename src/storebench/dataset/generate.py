"""Generates rows of the dataset: any range of rows, in any order, always the same bytes.

The work is done on columns by NumPy: for each piece of a row (storebench.dataset.layout) the entries' bytes are gathered
into a matrix of fixed widths, whose padding is then squeezed out. docs/decisions/0003 has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from storebench.dataset.checksum import (
    BASE,
    FIELD_NAMES,
    GOLDEN,
    MASK,
    MULTIPLIERS,
    U64,
    TableChecksum,
    mix,
    mix_array,
)
from storebench.dataset.layout import NULL_BITS, Part, Piece, Whole, layout
from storebench.errors import SpecError

BLOCK_ROWS = 1024  # the matrix of a block stays in the processor's cache
ESTIMATED_ROW_BYTES = 620
MAX_ROWS = 1_000_000_000
WORD_BITS = 64

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chunk:
    """Some rows: their CSV without header, and their checksum."""

    csv: bytes
    checksum: TableChecksum


@dataclass(frozen=True)
class _Plan:
    """The pieces with their places in a row's matrix and in the row's random bits."""

    pieces: tuple[Piece, ...]
    dtype: np.dtype[np.void]
    draws: tuple[tuple[int, int], ...]  # (word, shift) of each piece
    nulls: tuple[tuple[int, int] | None, ...]
    words: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.dtype.names or ()


def header() -> bytes:
    """The CSV's first line."""
    return (",".join(FIELD_NAMES) + "\n").encode()


def check(rows: int, seed: int) -> None:
    """Raises SpecError for rows or a seed that no dataset can have."""
    if not 1 <= rows <= MAX_ROWS:
        raise SpecError(f"rows must be from 1 to {MAX_ROWS:,}, not {rows:,}")
    if not 0 <= seed < 2**63:
        raise SpecError(f"seed must be from 0 to 2**63 - 1, not {seed}")


def generate(seed: int, start: int, stop: int) -> Chunk:
    """Rows `start` to `stop` - 1 of the dataset with `seed`. A row does not depend on how many there are."""
    picks = _picks(seed, start, stop)
    checksum = _checksum(picks)
    blocks = [_csv([picked[at : at + BLOCK_ROWS] for picked in picks]) for at in range(0, stop - start, BLOCK_ROWS)]
    return Chunk(b"".join(blocks), checksum)


def _picks(seed: int, start: int, stop: int) -> list[Indices]:
    """For each piece, which entry each row takes."""
    plan = _plan()
    numbers = np.arange(start, stop, dtype=np.uint64)
    random = [_random(seed, word, numbers) for word in range(plan.words)]
    picks = []
    for piece, (word, shift), null in zip(plan.pieces, plan.draws, plan.nulls, strict=True):
        if piece.divisor:
            picked = (numbers // np.uint64(piece.divisor) % np.uint64(len(piece.csv))).astype(np.int64)
        else:
            picked = _bits(random[word], shift, piece.bits)
        if null is not None:
            picked[_bits(random[null[0]], null[1], NULL_BITS) == 0] = 1 << piece.bits
        picks.append(picked)
    return picks


def _csv(picks: list[Indices]) -> bytes:
    """The rows' bytes: entries side by side in a matrix of fixed widths, then without its padding."""
    plan = _plan()
    matrix = np.empty(len(picks[0]), dtype=plan.dtype)
    for name, piece, picked in zip(plan.names, plan.pieces, picks, strict=True):
        matrix[name] = piece.csv.take(picked)
    padded = matrix.view(np.uint8)
    return padded[padded != 0].tobytes()


def _checksum(picks: list[Indices]) -> TableChecksum:
    """The rows' checksum, from the tables' ready-made hashes."""
    checksum = TableChecksum()
    rows = len(picks[0])
    combined = np.zeros(rows, dtype=np.uint64)
    parts: list[tuple[Part, Indices]] = []
    for piece, picked in zip(_plan().pieces, picks, strict=True):
        if isinstance(piece, Whole):
            _add_whole(piece, picked, checksum, combined)
        elif isinstance(piece, Part):
            parts.append((piece, picked))
            if piece.last:
                _add_parts(parts, checksum, combined)
                parts = []
    checksum.rows = rows
    checksum.row_sum = int(mix_array(combined).sum())
    return checksum


def _random(seed: int, word: int, numbers: U64) -> U64:
    """64 bits for each row: splitmix64 of the row's number, from a start that depends on seed and word."""
    start = mix((mix(seed) + (word + 1) * BASE) & MASK)
    return mix_array((numbers + np.uint64(1)) * np.uint64(GOLDEN) + np.uint64(start))


def _bits(random: U64, shift: int, bits: int) -> Indices:
    return ((random >> np.uint64(shift)) & np.uint64((1 << bits) - 1)).view(np.int64)


def _add_whole(piece: Whole, picked: Indices, checksum: TableChecksum, combined: U64) -> None:
    assert piece.hashes is not None and piece.combined is not None
    combined += piece.combined.take(picked)
    counts = np.bincount(picked, minlength=len(piece.csv)).astype(np.uint64)
    for field, hashes in zip(piece.fields, piece.hashes, strict=True):
        _add(checksum, field, int(np.dot(counts, hashes)))


def _add_parts(parts: list[tuple[Part, Indices]], checksum: TableChecksum, combined: U64) -> None:
    """H of a field from P of its parts: P(a + b) = P(a) * BASE ** len(b) + P(b)."""
    (piece, picked), *rest = parts
    assert piece.polynomials is not None and piece.lengths is not None
    value, length = piece.polynomials.take(picked), piece.lengths.take(picked)
    for part, chosen in rest:
        assert part.polynomials is not None and part.powers is not None and part.lengths is not None
        value *= part.powers.take(chosen)
        value += part.polynomials.take(chosen)
        length += part.lengths.take(chosen)
    length += np.uint64(1)
    length *= np.uint64(GOLDEN)
    value += length
    mix_array(value)
    _add(checksum, piece.field, int(value.sum()))
    value *= MULTIPLIERS[piece.field]
    combined += value


def _add(checksum: TableChecksum, field: int, value: int) -> None:
    name = FIELD_NAMES[field]
    checksum.fields[name] = (checksum.fields[name] + value) & MASK


@cache
def _plan() -> _Plan:
    """Give each piece its bits: words are filled in order, a piece never spans two."""
    pieces = layout()
    word, used = 0, 0

    def draw(bits: int) -> tuple[int, int]:
        nonlocal word, used
        if used + bits > WORD_BITS:
            word, used = word + 1, 0
        place = (word, used)
        used += bits
        return place

    draws: list[tuple[int, int]] = []
    nulls: list[tuple[int, int] | None] = []
    for piece in pieces:
        if isinstance(piece, Part) and piece.nullable:
            # all parts of a field are null together
            nulls.append(draw(NULL_BITS) if piece.first else nulls[-1])
        else:
            nulls.append(None)
        draws.append((0, 0) if piece.divisor else draw(piece.bits))
    dtype = np.dtype([(f"f{n}", piece.csv.dtype) for n, piece in enumerate(pieces)])
    return _Plan(pieces, dtype, tuple(draws), tuple(nulls), word + 1)

