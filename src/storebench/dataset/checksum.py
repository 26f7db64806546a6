"""The project's order-independent checksum of a table.

Definition; all arithmetic is on unsigned 64-bit integers modulo 2**64:

- ``P(text) = sum(byte[i] * BASE ** (n - 1 - i))`` over the n bytes of the text in UTF-8. It composes:
  ``P(a + b) = P(a) * BASE ** len(b) + P(b)``, so a generator can get it from tables of pieces.
- ``H(text) = mix(P(text) + (n + 1) * GOLDEN)``, where `mix` is the finalizer of splitmix64.
- The checksum of a field is ``sum(H(text))`` over all rows. A null is the empty text.
- The checksum of the rows is the sum over all rows of ``mix(sum(M[j] * H(text of field j)))`` with the odd multiplier
  ``M[j] = mix((j + 1) * GOLDEN) | 1`` for field number j from 0. It notices values that moved from one row to another,
  which the sums of the fields do not.

Sums do not depend on the order of rows. The checksum finds accidents, not forgeries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from storebench.dataset.schema import FIELD_NAMES

if TYPE_CHECKING:
    from storebench.dataset.manifest import Manifest

U64 = npt.NDArray[np.uint64]

BASE = 0x9FB21C651E98DF25  # odd, so that it has an inverse
GOLDEN = 0x9E3779B97F4A7C15
MASK = 2**64 - 1
BLOCK_BYTES = (
    1 << 15
)  # values of a column that are hashed at once: their arrays stay in the processor's cache


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


@cache
def multipliers(fields: int) -> U64:
    """M of so many fields."""
    return np.array([mix(GOLDEN * (n + 1) & MASK) | 1 for n in range(fields)], dtype=np.uint64)


def polynomial(text: bytes) -> int:
    """P of one text."""
    value = 0
    for byte in text:
        value = (value * BASE + byte) & MASK
    return value


def text_hash(text: str) -> int:
    """H of one text: the plain form of what `column_hashes` does with a whole column."""
    data = text.encode()
    return mix((polynomial(data) + (len(data) + 1) * GOLDEN) & MASK)


def _powers(base: int, count: int) -> U64:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


# For the positions i in a block: BASE ** -i, and BASE ** (i - 1)
_INVERSE = pow(BASE, -1, 2**64)
_FALLING = _powers(_INVERSE, BLOCK_BYTES)
_RISING = _powers(BASE, BLOCK_BYTES + 1) * np.uint64(_INVERSE)


def column_hashes(column: Sequence[str | None] | Any) -> U64:
    """H of each text of a column, shape (rows,); a null is the empty text.

    `column` is a sequence of str or None, or an Arrow array (plain or chunked) of a string type. Raises TypeError
    for values that are not text, and for a text with a NUL character in a sequence.
    """
    if hasattr(column, "combine_chunks") or hasattr(column, "buffers"):
        return _hashes(*_arrow_bytes(column), gap=0)
    return _hashes(*_joined_bytes(column), gap=1)


def _joined_bytes(column: Sequence[str | None]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The texts one after the other, a NUL behind each, and where each begins; the last bound is the end.

    One join and one search for the NULs is three times as fast as making an Arrow array of the strings.
    """
    try:
        joined = "\0".join([*column, ""])  # type: ignore[list-item] # a None is dealt with next
    except TypeError:
        joined = "\0".join([*("" if text is None else text for text in column), ""])
    data = np.frombuffer(joined.encode(), dtype=np.uint8)
    bounds = np.zeros(len(column) + 1, dtype=np.int64)
    ends = np.flatnonzero(data == 0)
    if len(ends) != len(column):
        raise TypeError("a text has a NUL character")
    np.add(ends, 1, out=bounds[1:])
    return data, bounds


def _arrow_bytes(array: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of an Arrow array's texts, and where each begins. pyarrow itself is not needed, nor imported."""
    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
    if "string" not in str(array.type):
        raise TypeError(f"{array.type} is not text: give its canonical text")
    array = array.cast("large_string").fill_null("")
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets or bytes(8), dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data or b"", dtype=np.uint8), bounds


def _hashes(data: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], gap: int) -> U64:
    """H of the texts ``data[bounds[i] : bounds[i + 1] - gap]``; the gap's bytes are 0."""
    rows = len(bounds) - 1
    hashes = np.empty(rows, dtype=np.uint64)
    first = 0
    while first < rows:
        last = int(np.searchsorted(bounds, bounds[first] + BLOCK_BYTES, side="right")) - 1
        if last == first:  # one text that is longer than a block
            last += 1
            hashes[first] = polynomial(data[bounds[first] : bounds[last] - gap].tobytes())
        else:
            ends = bounds[first : last + 1] - bounds[first]
            hashes[first:last] = _polynomials(data[bounds[first] : bounds[last]], ends, gap)
        first = last
    hashes += (np.diff(bounds) + (1 - gap)).view(np.uint64) * np.uint64(GOLDEN)
    return mix_array(hashes)


def _polynomials(data: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], gap: int) -> U64:
    """P of each text of a block: the difference of one running sum over all bytes, scaled to the text's end."""
    running = np.zeros(len(data) + 1, dtype=np.uint64)
    np.cumsum(data * _FALLING[: len(data)], out=running[1:])
    result: U64 = np.diff(running[bounds])
    result *= _RISING[bounds[1:] - gap]
    return result


class TableChecksum:
    """Adds up the checksum of a table, chunk by chunk, in any order.

    `rows` is how many there were, `fields` the checksum of each field, `row_sum` that of the rows. `names` are those of the fields, in
    their order.
    """

    def __init__(self, names: Sequence[str] = FIELD_NAMES) -> None:
        self.rows = 0
        self.names = tuple(names)
        self.fields = dict.fromkeys(self.names, 0)
        self.row_sum = 0

    def update(self, columns: Mapping[str, Sequence[str | None] | Any]) -> None:
        """Add a chunk of rows: each field's name with its texts, as `column_hashes` takes them.

        Raises ValueError for missing, unknown or uneven columns, TypeError for values that are not text.
        """
        if columns.keys() != self.fields.keys():
            missing = [name for name in self.names if name not in columns]
            unknown = [name for name in columns if name not in self.fields]
            parts = [
                f"{what} fields: {', '.join(names)}"
                for what, names in (("missing", missing), ("unknown", unknown))
                if names
            ]
            raise ValueError("; ".join(parts))
        rows = len(columns[self.names[0]])
        combined = np.zeros(rows, dtype=np.uint64)
        for n, name in enumerate(self.names):
            if len(columns[name]) != rows:
                raise ValueError(f"field {name} has {len(columns[name]):,} values for {rows:,} rows")
            try:
                self.add_field(n, column_hashes(columns[name]), combined)
            except TypeError as error:
                raise TypeError(f"field {name}: {error}") from None
        self.add_rows(combined)

    def add_field(self, number: int, hashes: U64, combined: U64) -> None:
        """Add one field's hashes to its checksum and, multiplied, to `combined`. Changes `hashes`."""
        name = self.names[number]
        self.fields[name] = (self.fields[name] + int(hashes.sum())) & MASK
        hashes *= multipliers(len(self.names))[number]
        combined += hashes

    def add_rows(self, combined: U64) -> None:
        """Add the rows whose fields are all in `combined`, which is changed."""
        self.rows += len(combined)
        self.row_sum = (self.row_sum + int(mix_array(combined).sum())) & MASK

    def add(self, other: TableChecksum) -> None:
        """Add the checksum of other rows of the same table."""
        self.rows += other.rows
        self.row_sum = (self.row_sum + other.row_sum) & MASK
        for name, value in other.fields.items():
            self.fields[name] = (self.fields[name] + value) & MASK

    def to_json(self) -> dict[str, Any]:
        """Return the checksum as a JSON object. Checksums are 16 hex digits, as in a manifest."""
        return {
            "rows": self.rows,
            "fields": {name: f"{value:016x}" for name, value in self.fields.items()},
            "row_sum": f"{self.row_sum:016x}",
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TableChecksum:
        """Return the checksum that `to_json` has turned into a JSON object."""
        checksum = cls(list(data["fields"]))
        checksum.rows = int(data["rows"])
        checksum.fields = {name: int(value, 16) for name, value in data["fields"].items()}
        checksum.row_sum = int(data["row_sum"], 16)
        return checksum

    def diff(self, manifest: Manifest) -> list[str]:
        """Return sentences about the differences from the manifest; empty if there are none."""
        differences = []
        if self.rows != manifest.rows:
            differences.append(f"rows: {self.rows:,} of {manifest.rows:,}")
        differences += [
            f"field {name}: checksum differs"
            for name in self.names
            if self.fields[name] != manifest.fields[name]
        ]
        if not differences and self.row_sum != manifest.row_sum:
            differences.append(
                "values moved between rows: each field's checksum is right, but that of the rows differs"
            )
        return differences
