"""The pieces that rows are put together from: tables of ready-made bytes with their checksums.

A piece is a table of which each row takes one entry. It holds whole fields, one or several neighbours (a city with its
region), or a part of one field: parts give millions of values from small tables. Separators and quotes are in the
tables, so no row is ever quoted on its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storebench.dataset.checksum import BASE, GOLDEN, MASK, U64, polynomial, text_hash
from storebench.dataset.schema import FIELD_NAMES

NULL_ONE_IN = 16  # rows of a nullable field


@dataclass(frozen=True)
class Piece:
    """A table of `size` entries; where the field can be null, one more entry behind them is the null.

    `sums` has one row for each field: for whole fields H of the text, for a part its share of the field's sum
    ``P(text) + n * GOLDEN``. Shape (fields, entries).
    """

    csv: tuple[bytes, ...]
    size: int
    fields: tuple[int, ...]
    sums: U64
    part: bool = False
    first: bool = True  # of the field's parts
    last: bool = True
    nullable: bool = False
    divisor: int = 0  # the entry is (row's number // divisor) % size; 0: random

    @property
    def width(self) -> int:
        """Bytes of the longest entry."""
        return max(map(len, self.csv))

    @property
    def fixed(self) -> bool:
        """Whether all entries have the same length."""
        return len(set(map(len, self.csv))) == 1


def whole(names: str, rows: Sequence[tuple[str, ...]]) -> list[Piece]:
    """Whole fields `names`, separated by spaces; each entry of `rows` has a text for each of them."""
    fields = tuple(FIELD_NAMES.index(name) for name in names.split())
    end = _separator(fields[-1])
    csv = tuple((",".join(map(_quoted, row)) + end).encode() for row in rows)
    sums = np.array(
        [[text_hash(text) for text in texts] for texts in zip(*rows, strict=True)], dtype=np.uint64
    )
    return [Piece(csv, len(csv), fields, sums)]


def single(name: str, texts: Sequence[str]) -> list[Piece]:
    """One whole field."""
    return whole(name, [(text,) for text in texts])


def product(names: str, *choices: Sequence[str]) -> list[Piece]:
    """Whole fields that are independent of one another and have few values: all combinations."""
    return whole(names, list(itertools.product(*choices)))


def composed(
    name: str,
    *tables: Sequence[str],
    nullable: bool = False,
    quoted: bool = False,
    divisors: Sequence[int] = (),
) -> list[Piece]:
    """One field whose text is an entry of each table, one after the other.

    All tables but the first have entries of one length (ValueError otherwise): what a part adds to the field's
    polynomial then depends on that part alone, and the hash of a row's text is a sum of one entry from each table.
    """
    field = FIELD_NAMES.index(name)
    lengths = [{len(text.encode()) for text in table} for table in tables]
    if any(len(length) > 1 for length in lengths[1:]):
        raise ValueError(f"{name}: only its first table may have entries of several lengths: {lengths}")
    pieces: list[Piece] = []
    for n, table in enumerate(tables):
        behind = sum(length for (length,) in lengths[n + 1 :])
        first, last = n == 0, n == len(tables) - 1
        opening = '"' if quoted and first else ""
        closing = ('"' if quoted else "") + _separator(field) if last else ""
        csv = [(opening + (text.replace('"', '""') if quoted else text) + closing).encode() for text in table]
        sums = [_share(text.encode(), behind) for text in table]
        if nullable:
            csv.append((_separator(field) if last else "").encode())
            sums.append(0)
        divisor = divisors[n] if divisors else 0
        pieces.append(
            Piece(
                tuple(csv), len(table), (field,), np.array([sums], dtype=np.uint64),
                part=True, first=first, last=last, nullable=nullable, divisor=divisor,
            )
        )  # fmt: skip
    return pieces


def with_nulls(texts: Sequence[str]) -> list[str]:
    """The texts, with nulls for some of them."""
    return ["" if n % NULL_ONE_IN == NULL_ONE_IN - 1 else text for n, text in enumerate(texts)]


def _share(text: bytes, behind: int) -> int:
    """What a part adds to ``P(whole) + n * GOLDEN`` with `behind` bytes of other parts behind it."""
    return (polynomial(text) * pow(BASE, behind, 2**64) + len(text) * GOLDEN) & MASK


def _separator(field: int) -> str:
    return "\n" if field == len(FIELD_NAMES) - 1 else ","


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text


@dataclass(frozen=True)
class Column:
    """Up to 16 bytes of each entry of piece number `piece`, at `offset` in a row's matrix."""

    piece: int
    offset: int
    table: npt.NDArray[np.void]


def columns(pieces: Sequence[Piece]) -> Iterator[Column]:
    """Place the pieces in a row of a matrix of bytes, shorter entries padded with NULs.

    Words of 8 and 16 bytes are copied three times as fast as other sizes, so tables are cut into those; what the last
    word has too much is overwritten by the next column, in the order in which they are given. Padding goes behind or
    before an entry so that two gaps meet: squeezing the NULs out costs by the gap.
    """
    offset, gap_before = 0, False
    for number, piece in enumerate(pieces):
        width = piece.width
        entries = [entry.rjust(width, b"\0") if gap_before else entry for entry in piece.csv]
        gap_before = not piece.fixed and not gap_before
        for start in range(0, width, 16):
            size = 8 if width - start <= 8 else 16
            words = b"".join(entry[start : start + size].ljust(size, b"\0") for entry in entries)
            yield Column(number, offset + start, np.frombuffer(words, dtype=f"V{size}"))
        offset += width
