"""The tables of the benchmarks: columns, and rows that depend on the seed.

A row is a tuple of plain Python values in the order of the columns. A string is bytes, a struct is a tuple, and a dict is a tuple of pairs
sorted by key. This module knows no format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from storebench.errors import SpecError, unknown

Row = tuple[Any, ...]

VALUES = ("random", "few")
FEW = 16  # the most distinct values of a column
POSITIONS = ("end", "middle")  # positions of the column that `extend` adds

JOBS = 10  # number of jobs, each with a tenth of the table
WIDE_COLUMNS = 1_000
WIDE_SHARE = 100  # requested rows per row of the wide table, so that all tables have about the same size

INTEGERS = {
    f"{sign}int{bits}": (bits - (not sign), not sign) for sign in ("", "u") for bits in (8, 16, 32, 64)
}
WIDE_KINDS = (*INTEGERS, "float", "double")
CITIES = (b"Paris", b"Lille", b"Tokyo", "Orléans".encode(), "Zürich".encode(), b"Oslo")


@dataclass(frozen=True)
class Column:
    """A column; `kind` is its type: int8 to int64, uint8 to uint64, float, double, boolean, string, and those of COMPLEX."""

    name: str
    kind: str


@dataclass(frozen=True)
class Table:
    """A table with its columns in order."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def _table(**kinds: str) -> Table:
    return Table(tuple(Column(name, kind) for name, kind in kinds.items()))


WIDE = Table(tuple(Column(f"c{n}", WIDE_KINDS[n % len(WIDE_KINDS)]) for n in range(WIDE_COLUMNS)))
NARROW = _table(number="uint64", text="string")
MIDDLE = _table(
    id="int64",
    user_id="uint64",
    price="double",
    qty="int64",
    flag="boolean",
    name="string",
    city="string",
    email="string",
    ts="uint64",
    note="string",
)
ADDED = Column("next_qty", "int64")
EXTENDED = Table((*MIDDLE.columns, ADDED))
HALF = len(MIDDLE.columns) // 2
INSERTED = Table((*MIDDLE.columns[:HALF], ADDED, *MIDDLE.columns[HALF:]))
# optional_string: bytes or None; double_list: a tuple of floats; point: a struct of x, an int64, and y, a string;
# marks: a dict of strings to int64
COMPLEX = _table(note="optional_string", scores="double_list", place="point", marks="marks")
ZEROS = _table(zeros="int64")
LENGTH = _table(length="int64")


def _text(random: Random, longest: int) -> bytes:
    size = int(random.random() * (longest + 1))
    return (
        random.getrandbits(4 * size).to_bytes((size + 1) // 2, "big").hex()[:size].encode() if size else b""
    )


def _wide_value(random: Random, kind: str) -> Any:
    if random.random() < 0.125:
        return 0 if kind in INTEGERS else 0.0
    if kind in INTEGERS:
        bits, signed = INTEGERS[kind]
        value = random.getrandbits(bits)
        return value - (1 << bits) if signed and random.random() < 0.5 else value
    # a 32-bit float represents each of these values exactly
    return random.getrandbits(20) / 8 - 60_000.0 if kind == "float" else random.random() * 1e6


def _wide(random: Random, number: int) -> Row:
    return tuple(_wide_value(random, column.kind) for column in WIDE.columns)


def _narrow(random: Random, number: int) -> Row:
    return random.getrandbits(40), _text(random, 40)


def _middle(random: Random, number: int) -> Row:
    return (
        number,
        random.getrandbits(40),
        random.random() * 100,
        int(random.random() * 109) - 9,
        random.random() < 0.5,
        b"name-%d" % number,
        CITIES[int(random.random() * len(CITIES))],
        b"user-%d@example.com" % random.getrandbits(24),
        1_700_000_000 + number,
        _text(random, 40),
    )


def _complex(random: Random, number: int) -> Row:
    marks = {_text(random, 8): random.getrandbits(31) - (1 << 30) for _ in range(int(random.random() * 5))}
    return (
        _text(random, 20) if random.random() < 0.7 else None,
        tuple(random.random() * 10 for _ in range(int(random.random() * 9))),
        (random.getrandbits(31) - (1 << 30), _text(random, 12)),
        tuple(sorted(marks.items())),
    )


# The constant values of written rows, beside the row's number.
WRITTEN = (
    910_111_213_141,
    12.375,
    42,
    True,
    b"a name",
    "Orléans".encode(),
    b"user@example.com",
    1_700_000_000,
    b"predefined",
)


def _written(random: Random, number: int) -> Row:
    return number, *WRITTEN


@dataclass(frozen=True)
class Benchmark:
    """A job's work. `map` defines the output rows for the input rows."""

    name: str
    table: Table  # the input table; for `write`, which has no input, the output table
    output: Table
    row: Callable[[Random, int], Row]
    map: Callable[[Iterator[Row]], Iterator[Row]]
    values: str = "random"  # `few`: each column has at most FEW distinct values
    position: str = "end"

    def rows(self, requested_rows: int) -> int:
        """Return the number of rows of the table for `requested_rows` requested rows. Raises SpecError if a job would have no rows."""
        rows = requested_rows // WIDE_SHARE if self.table is WIDE else requested_rows
        if rows < JOBS:
            least = JOBS * WIDE_SHARE if self.table is WIDE else JOBS
            raise SpecError(
                f"{requested_rows:,} rows are too few for the benchmark {self.name!r}: each of {JOBS} jobs needs a row. Ask for {least:,} or more"
            )
        return rows

    def part(self, requested_rows: int, part: int) -> range:
        """Return the row numbers of a job."""
        rows = self.rows(requested_rows)
        return range(rows * part // JOBS, rows * (part + 1) // JOBS)

    def input(self, requested_rows: int, seed: int, part: int) -> Iterator[Row]:
        """Yield the input rows of a job."""
        random = Random(
            f"{self.name}/{seed}/{part}"
        )  # a text seed is hashed: the same values on every machine
        numbers = self.part(requested_rows, part)
        if self.values == "random":
            return (self.row(random, number) for number in numbers)
        of_all_parts = Random(f"{self.name}/{seed}")
        columns = list(zip(*(self.row(of_all_parts, number) for number in range(FEW)), strict=True))
        return (tuple(values[int(random.random() * FEW)] for values in columns) for _ in numbers)

    def expected(self, requested_rows: int, seed: int, part: int) -> Iterator[Row]:
        """Yield the expected output rows of a job."""
        return self.map(self.input(requested_rows, seed, part))


def _zeros(rows: Iterator[Row]) -> Iterator[Row]:
    yield (sum(row.count(0) for row in rows),)


def _length(rows: Iterator[Row]) -> Iterator[Row]:
    yield (sum((number.bit_length() + 7) // 8 + len(text) for number, text in rows),)


def _modified(rows: Iterator[Row]) -> Iterator[Row]:
    return ((*row[:3], row[3] + 1, *row[4:]) for row in rows)


def _extended(rows: Iterator[Row]) -> Iterator[Row]:
    return ((*row, row[3] + 1) for row in rows)


def _inserted(rows: Iterator[Row]) -> Iterator[Row]:
    return ((*row[:HALF], row[3] + 1, *row[HALF:]) for row in rows)


def _incremented(rows: Iterator[Row]) -> Iterator[Row]:
    return (
        (note, (*(score + 1 for score in scores), float(len(scores))), place, marks)
        for note, scores, place, marks in rows
    )


BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("wide", WIDE, ZEROS, _wide, _zeros),
        Benchmark("narrow", NARROW, LENGTH, _narrow, _length),
        Benchmark("modify", MIDDLE, MIDDLE, _middle, _modified),
        Benchmark("extend", MIDDLE, EXTENDED, _middle, _extended),
        Benchmark("complex", COMPLEX, COMPLEX, _complex, _incremented),
        Benchmark("write", MIDDLE, MIDDLE, _written, iter),
    )
}


def benchmark_of(name: str, values: str = "random", position: str = "end") -> Benchmark:
    """Return the benchmark `name` with the kind of values `values`, and the new column of `extend` at `position`.

    Raises SpecError for an unknown value or a combination without meaning."""
    for what, chosen, known in (
        ("benchmark", name, tuple(BENCHMARKS)),
        ("values", values, VALUES),
        ("position", position, POSITIONS),
    ):
        if chosen not in known:
            raise unknown(what, chosen, known)
    benchmark = replace(BENCHMARKS[name], values=values, position=position)
    if values == "few" and name == "write":
        raise SpecError(
            "values=few: the benchmark 'write' reads no table, and what it writes is always the same"
        )
    if position == "end":
        return benchmark
    if name != "extend":
        raise SpecError(f"position={position}: the benchmark {name!r} adds no column, only 'extend' does")
    return replace(benchmark, output=INSERTED, map=_inserted)


def key_of(prefix: str, encoding: str, part: int) -> str:
    """Return the S3 key of a job's tenth of the table."""
    return f"{prefix}{encoding}/{part}"
