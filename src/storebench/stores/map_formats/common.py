"""The common interface: rows of whatever format, with a value by the name or the place of its column. Each benchmark is written once for it.

A format has a small adapter: a class of `Record` and one of `Records`. The price of the interface is a call for each value, and what a
format can do only with its own rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from storebench.errors import unknown
from storebench.stores.map_formats.formats import Format
from storebench.stores.map_formats.tables import WRITTEN, Table

INTERFACES = ("direct", "common")
Key = str | int  # a column, by its name or its place


class Record(ABC):
    """A row. Values are those of Python: a string is bytes, a list is iterable; structs and dicts are the format's own."""

    __slots__ = ()

    @abstractmethod
    def get(self, column: Key) -> Any:
        """The value in a column; raises KeyError for one that is not there."""

    @abstractmethod
    def set(self, column: Key, value: Any) -> None:
        """Give a column another value; raises KeyError for one that is not there."""


class Records(ABC):
    """The rows of a job: of the table that goes in, and of the one that comes out."""

    @abstractmethod
    def read(self, source: IO[bytes]) -> Iterator[Record]:
        """The rows that go in, one after the other."""

    @abstractmethod
    def new(self) -> Record:
        """A row that comes out, in which each column has to be set."""

    @abstractmethod
    def widened(self, row: Any) -> Record:
        """Return the row as an output row whose new column must still be set. The caller must not use `row` afterwards."""

    @abstractmethod
    def write(self, rows: Iterable[Any], sink: IO[bytes]) -> None:
        """Write all rows that come out."""


class FieldRecord(Record):
    """A row whose values are attributes of an object."""

    __slots__ = ("names", "row")

    def __init__(self, row: Any, names: Mapping[Key, str]) -> None:
        self.row, self.names = row, names

    def get(self, column: Key) -> Any:
        return getattr(self.row, self.names[column])

    def set(self, column: Key, value: Any) -> None:
        setattr(self.row, self.names[column], value)


def names_of(table: Table) -> dict[Key, str]:
    """The names of the columns by names and places: what a record looks up."""
    names = table.names
    return {**{name: name for name in names}, **dict(enumerate(names))}


def wide(format_: Format, source: IO[bytes], sink: IO[bytes]) -> None:
    records, places, zeros = format_.records(), range(len(format_.table.columns)), 0
    for row in records.read(source):
        for place in places:
            if row.get(place) == 0:
                zeros += 1
    counted = records.new()
    counted.set("zeros", zeros)
    records.write([counted], sink)


def narrow(format_: Format, source: IO[bytes], sink: IO[bytes]) -> None:
    records, length = format_.records(), 0
    for row in records.read(source):
        length += (row.get("number").bit_length() + 7) // 8 + len(row.get("text"))
    added_up = records.new()
    added_up.set("length", length)
    records.write([added_up], sink)


def modify(format_: Format, source: IO[bytes], sink: IO[bytes]) -> None:
    records = format_.records()

    def modified() -> Iterator[Record]:
        for row in records.read(source):
            row.set("qty", row.get("qty") + 1)
            yield row

    records.write(modified(), sink)


def extend(format_: Format, source: IO[bytes], sink: IO[bytes]) -> None:
    records = format_.records()

    def extended() -> Iterator[Record]:
        for row in records.read(source):
            new = records.widened(row)
            new.set("next_qty", new.get("qty") + 1)
            yield new

    records.write(extended(), sink)


def complex_(format_: Format, source: IO[bytes], sink: IO[bytes]) -> None:
    records = format_.records()

    def incremented() -> Iterator[Record]:
        for row in records.read(source):
            scores = row.get("scores")
            row.set("scores", [*(one + 1 for one in scores), float(len(scores))])
            yield row

    records.write(incremented(), sink)


def write(format_: Format, numbers: range, sink: IO[bytes]) -> None:
    records = format_.records()

    def made() -> Iterator[Record]:
        for number in numbers:
            row = records.new()
            row.set(0, number)
            for place, value in enumerate(WRITTEN, 1):
                row.set(place, value)
            yield row

    records.write(made(), sink)


MAPS: dict[str, Callable[[Format, IO[bytes], IO[bytes]], None]] = {
    "wide": wide,
    "narrow": narrow,
    "modify": modify,
    "extend": extend,
    "complex": complex_,
}


def check_interface(name: str) -> str:
    """The name of an interface, if it is one; raises SpecError if not."""
    if name not in INTERFACES:
        raise unknown("interface", name, INTERFACES)
    return name
