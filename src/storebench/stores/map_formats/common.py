"""The common interface to rows of all formats: a value by the name or the position of its column. Each benchmark has one job for it.

Each format has a small adapter: subclasses of `Record` and `Records`. The interface costs a call for each value, and excludes optimizations
for a format's own rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from storebench.errors import unknown
from storebench.stores.map_formats.formats import Format
from storebench.stores.map_formats.tables import WRITTEN, Table

INTERFACES = ("direct", "common")
Key = str | int  # a column's name or position


class Record(ABC):
    """A row. Values are Python values: a string is bytes, a list is iterable. Structs and dicts have the format's own types."""

    __slots__ = ()

    @abstractmethod
    def get(self, column: Key) -> Any:
        """Return the value in a column. Raises KeyError for an unknown column."""

    @abstractmethod
    def set(self, column: Key, value: Any) -> None:
        """Set the value of a column. Raises KeyError for an unknown column."""


class Records(ABC):
    """The input and output rows of a job."""

    @abstractmethod
    def read(self, source: IO[bytes]) -> Iterator[Record]:
        """Yield the input rows."""

    @abstractmethod
    def new(self) -> Record:
        """Create an output row, whose columns must all be set."""

    @abstractmethod
    def widened(self, row: Any) -> Record:
        """Return the row as an output row whose new column must still be set. The caller must not use `row` afterwards."""

    @abstractmethod
    def write(self, rows: Iterable[Any], sink: IO[bytes]) -> None:
        """Write all output rows."""


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
    """Return the columns' names by name and by position, for lookups of records."""
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
            row.set("scores", [*(score + 1 for score in scores), float(len(scores))])
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
    """Return the name of an interface. Raises SpecError for an unknown name."""
    if name not in INTERFACES:
        raise unknown("interface", name, INTERFACES)
    return name
