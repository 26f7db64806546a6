"""The pieces that rows are put together from: tables of ready-made bytes with their checksums.

A piece is a table of which each row takes one entry. It holds whole fields, one or several neighbours (a city with its
region), or a part of one field: parts give millions of values from small tables. Separators and quotes are in the
tables, so no row is ever quoted on its own.

All entries of a piece have the same length in the CSV, so every piece has its place in a row and every row has the same
length: making rows is copying words into a matrix that is the CSV. Lengths vary within a piece: where several fields
share one, a short value, or a null, comes with longer ones beside it (`alike`, `filled`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storebench.dataset.checksum import BASE, GOLDEN, MASK, U64, mix, polynomial, text_hash
from storebench.dataset.schema import FIELD_NAMES

Texts = tuple[str, ...]

TABLE = 4096  # entries of most tables: random access should stay in the processor's cache
NULL_ONE_IN = 16  # values of a nullable field


@dataclass(frozen=True)
class Piece:
    """A table. `sums` has one row for each field: shape (fields, entries).

    For whole fields it is H of the text, for a part of a field the part's share of ``P(text) + n * GOLDEN``.
    Raises ValueError for entries of several lengths.
    """

    csv: Sequence[bytes]
    fields: tuple[int, ...]
    sums: U64
    part: bool = False
    first: bool = True  # of the field's parts
    last: bool = True
    divisor: int = 0  # the entry is (row's number // divisor) % entries; 0: random

    def __post_init__(self) -> None:
        if len({len(entry) for entry in self.csv}) != 1:
            names = ", ".join(FIELD_NAMES[field] for field in self.fields)
            raise ValueError(f"the entries for {names} have several lengths")

    @property
    def width(self) -> int:
        """Bytes of each entry."""
        return len(self.csv[0])


def entire(names: str, rows: Sequence[Texts]) -> list[Piece]:
    """Return the piece of entire fields. `names`: the fields, separated by spaces. `rows`: a text for each field."""
    fields = tuple(FIELD_NAMES.index(name) for name in names.split())
    hashes = {text: text_hash(text) for text in set(itertools.chain.from_iterable(rows))}
    sums = np.array([[hashes[text] for text in texts] for texts in zip(*rows, strict=True)], dtype=np.uint64)
    return [Piece([_csv(row, _separator(fields[-1])) for row in rows], fields, sums)]


def single(name: str, texts: Sequence[str]) -> list[Piece]:
    """Return the piece of one entire field."""
    return entire(name, [(text,) for text in texts])


def alike(names: str, *choices: Sequence[Texts]) -> list[Piece]:
    """Whole fields whose values are picked independently, of which the rows of the most frequent length are kept.

    Each choice is a sequence of texts that go together.
    """
    picked = [_pick(choices, n) for n in range(4 * TABLE)]
    lengths = [len(_csv(row, "")) for row in picked]
    ((most, _),) = Counter(lengths).most_common(1)
    return entire(names, [row for row, length in zip(picked, lengths, strict=True) if length == most][:TABLE])


def filled(
    names: str, fillers: Mapping[int, Sequence[str]], width: int, *choices: Sequence[Texts]
) -> list[Piece]:
    """Whole fields whose values are picked independently, and a last one that fills them up to `width` bytes.

    `fillers` has the last one's texts by their length; its null is the empty text.
    """
    rows: list[Texts] = []
    for n in itertools.count():
        row = _pick(choices, n)
        texts = fillers.get(width - len(_csv(row, ",")), [])
        if texts:  # a combination that nothing fills up is left out
            rows.append((*row, texts[n % len(texts)]))
        if len(rows) == TABLE:
            break
    return entire(names, rows)


def composed(
    name: str, *tables: Sequence[str], quoted: bool = False, divisors: Sequence[int] = ()
) -> list[Piece]:
    """One field whose text is an entry of each table, one after the other.

    Entries of all tables but the first have one length as plain text, too: what a part adds to the field's polynomial
    then depends on that part alone, and the hash of a row's text is a sum of one entry from each table.
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
        sums = np.array([[_share(text.encode(), behind) for text in table]], dtype=np.uint64)
        divisor = divisors[n] if divisors else 0
        pieces.append(Piece(csv, (field,), sums, part=True, first=first, last=last, divisor=divisor))
    return pieces


def of_most_frequent_length(texts: Sequence[str]) -> list[str]:
    """The texts that have the most frequent length when they are quoted in the CSV."""
    lengths = [len(text.replace('"', '""').encode()) for text in texts]
    ((most, _),) = Counter(lengths).most_common(1)
    return [text for text, length in zip(texts, lengths, strict=True) if length == most]


def alone(texts: Sequence[str]) -> list[Texts]:
    """Texts as a choice of `alike` and `filled` that goes with no other field."""
    return [(text,) for text in texts]


def with_nulls(texts: Sequence[str]) -> list[Texts]:
    """Return the texts as pieces, every NULL_ONE_IN-th text replaced by a null."""
    return [("" if n % NULL_ONE_IN == NULL_ONE_IN - 1 else text,) for n, text in enumerate(texts)]


def _pick(choices: Sequence[Sequence[Texts]], n: int) -> Texts:
    """Combination number `n`: each choice scattered on its own, the same for ever."""
    picked = (choice[mix(n * len(choices) + k) % len(choice)] for k, choice in enumerate(choices))
    return tuple(itertools.chain.from_iterable(picked))


def _share(text: bytes, behind: int) -> int:
    """Return the summand of a part in ``P(whole) + n * GOLDEN`` with `behind` bytes of other parts behind it."""
    return (polynomial(text) * pow(BASE, behind, 2**64) + len(text) * GOLDEN) & MASK


def _csv(texts: Texts, end: str) -> bytes:
    return (",".join(map(_quoted, texts)) + end).encode()


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text


def _separator(field: int) -> str:
    return "\n" if field == len(FIELD_NAMES) - 1 else ","


@dataclass(frozen=True)
class Column:
    """8 or 16 bytes of each entry of piece number `piece`, at `offset` in a row."""

    piece: int
    offset: int
    table: npt.NDArray[np.void]

    @property
    def name(self) -> str:
        """Return the name of the column in the matrix."""
        return f"{self.offset}"


def columns(pieces: Sequence[Piece]) -> Iterator[Column]:
    """Cut the pieces' tables into words, in the order in which they are to be written.

    Words of 8 and 16 bytes are copied three times as fast as other sizes. What a word has too much is overwritten by the
    next one; at a row's end words overlap instead, for behind it the next row begins.
    """
    row_width = sum(piece.width for piece in pieces)
    offset = 0
    for number, piece in enumerate(pieces):
        start = 0
        while start < piece.width:
            size = 16 if piece.width - start > 8 and offset + 16 <= row_width else 8
            start = min(start, row_width - offset - size)
            if start < 0:
                raise ValueError("the last piece of a row has at least 8 bytes")
            words = b"".join(entry[start : start + size].ljust(size, b"\0") for entry in piece.csv)
            yield Column(number, offset + start, np.frombuffer(words, dtype=f"V{size}"))
            start += size
        offset += piece.width
