"""The project's order-independent checksum of a table.

Definition, all arithmetic on unsigned 64-bit integers modulo 2**64:

- ``P(text)``: the polynomial ``sum(byte[i] * BASE ** (n - 1 - i))`` over the n bytes of the text in UTF-8. It composes:
  ``P(a + b) = P(a) * BASE ** len(b) + P(b)``.
- ``H(text) = mix(P(text) + (n + 1) * GOLDEN)``, where `mix` is the finalizer of splitmix64.
- The checksum of a field is ``sum(H(text))`` over all rows; a null is the empty text.
- The checksum of the rows is the sum over all rows of ``mix(sum(M[j] * H(text of field j)))`` with an odd multiplier for
  each field: it notices values that moved from one row to another, which the fields' sums do not.

Sums do not depend on the order of rows. The checksum finds accidents, not forgeries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from storebench.dataset.schema import FIELDS

if TYPE_CHECKING:
    from storebench.dataset.manifest import Manifest

U64 = npt.NDArray[np.uint64]

BASE = 0x9FB21C651E98DF25  # odd, so that it has an inverse
GOLDEN = 0x9E3779B97F4A7C15
MASK = 2**64 - 1
BLOCK_BYTES = 1 << 20  # of one column that are hashed at once
FIELD_NAMES = tuple(field.name for field in FIELDS)


def mix(value: int) -> int:
    """The finalizer of splitmix64 (Steele, Lea, Flood 2014)."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def mix_array(values: U64) -> U64:
    """`mix` of each value, in place; returns the same array."""
    scratch = values >> np.uint64(30)
    values ^= scratch
    values *= np.uint64(0xBF58476D1CE4E5B9)
    np.right_shift(values, np.uint64(27), out=scratch)
    values ^= scratch
    values *= np.uint64(0x94D049BB133111EB)
    np.right_shift(values, np.uint64(31), out=scratch)
    values ^= scratch
    return values


MULTIPLIERS = np.array([mix(GOLDEN * (n + 1) & MASK) | 1 for n in range(len(FIELDS))], dtype=np.uint64)


def polynomial(text: bytes) -> int:
    """P of one text."""
    value = 0
    for byte in text:
        value = (value * BASE + byte) & MASK
    return value


def text_hash(text: str) -> int:
    """H of one text: the plain form of what this module does with whole columns."""
    data = text.encode()
    return mix((polynomial(data) + (len(data) + 1) * GOLDEN) & MASK)


def _powers(base: int, count: int) -> U64:
    powers = np.full(count, base & MASK, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


# BASE ** -i and BASE ** (i - 1) for the positions i in a block
_INVERSE = pow(BASE, -1, 2**64)
_FALLING = _powers(_INVERSE, BLOCK_BYTES)
_RISING = _powers(BASE, BLOCK_BYTES) * np.uint64(_INVERSE)


def column_hashes(column: Sequence[str]) -> U64:
    """H of each text of a column, shape (rows,). Raises TypeError for values that are not texts."""
    data = np.frombuffer("\0".join([*column, ""]).encode(), dtype=np.uint8)
    ends = np.flatnonzero(data == 0)
    if len(ends) != len(column):
        raise TypeError("a text has a NUL character")
    if len(data) <= BLOCK_BYTES:
        hashes = _polynomials(data, ends)
    elif len(column) == 1:
        hashes = np.array([polynomial(data[:-1].tobytes())], dtype=np.uint64)
    else:
        middle = len(column) // 2
        return np.concatenate([column_hashes(column[:middle]), column_hashes(column[middle:])])
    lengths = np.diff(ends, prepend=-1)  # with the separator: n + 1
    hashes += lengths.astype(np.uint64) * np.uint64(GOLDEN)
    return mix_array(hashes)


def _polynomials(data: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> U64:
    """P of each text: differences of one running sum over all of them, each scaled to its end."""
    running = np.cumsum(data * _FALLING[: len(data)])[ends]
    result: U64 = np.diff(running, prepend=np.uint64(0)) * _RISING[ends]
    return result


class TableChecksum:
    """Adds up the checksum of a table, chunk by chunk, in any order."""

    def __init__(self) -> None:
        self.rows = 0
        self.fields = dict.fromkeys(FIELD_NAMES, 0)
        self.row_sum = 0

    def update(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Add a chunk: each field's name with its texts.

        Raises ValueError for missing, unknown or uneven columns, TypeError for values that are not text.
        """
        if columns.keys() != self.fields.keys():
            missing = [name for name in FIELD_NAMES if name not in columns]
            unknown = [name for name in columns if name not in self.fields]
            raise ValueError(f"missing fields: {missing}; unknown fields: {unknown}")
        rows = len(columns[FIELD_NAMES[0]])
        combined = np.zeros(rows, dtype=np.uint64)
        for name, multiplier in zip(FIELD_NAMES, MULTIPLIERS, strict=True):
            if len(columns[name]) != rows:
                raise ValueError(f"field {name} has {len(columns[name])} values for {rows} rows")
            try:
                hashes = column_hashes(columns[name])
            except TypeError as error:
                raise TypeError(f"field {name}: {error}") from None
            self.fields[name] = (self.fields[name] + int(hashes.sum())) & MASK
            combined += hashes * multiplier
        self.rows += rows
        self.row_sum = (self.row_sum + int(mix_array(combined).sum())) & MASK

    def add(self, other: TableChecksum) -> None:
        """Add the checksum of other rows of the same table."""
        self.rows += other.rows
        self.row_sum = (self.row_sum + other.row_sum) & MASK
        for name, value in other.fields.items():
            self.fields[name] = (self.fields[name] + value) & MASK

    def diff(self, manifest: Manifest) -> list[str]:
        """What differs from the manifest, for people; empty if nothing does."""
        found = []
        if self.rows != manifest.rows:
            found.append(f"{self.rows:,} rows instead of {manifest.rows:,}")
        found += [
            f"field {name}: checksum differs" for name in FIELD_NAMES if self.fields[name] != manifest.fields[name]
        ]
        if not found and self.row_sum != manifest.row_sum:
            found.append("values moved from one row to another")
        return found


def as_hex(value: int) -> str:
    """A checksum as it stands in a manifest: 16 hexadecimal digits."""
    return f"{value:016x}"


