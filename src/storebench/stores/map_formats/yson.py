"""Binary YSON by ytsaurus-yson: a row is a map with the names of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from storebench.errors import SpecError
from storebench.stores.map_formats.base import MapStore
from storebench.stores.map_formats.common import Key, Record, Records, names_of
from storebench.stores.map_formats.formats import Format
from storebench.stores.map_formats.tables import INTEGERS, WRITTEN, Benchmark, Column, Row, Table

READING = {"yson_type": "list_fragment", "encoding": None, "always_create_attributes": False}


class YsonFormat(Format):
    """YSON with dicts of bytes as rows. A uint64 has its own type, which writing preserves."""

    decoded_by = "the parser of ytsaurus-client in Python"

    def __init__(self, benchmark: Benchmark) -> None:
        super().__init__(benchmark)
        from yt import yson

        self._yson, self._uint64 = yson, yson.YsonUint64

    def ready(self) -> None:
        if self._yson.TYPE != "BINARY":
            raise SpecError("YSON: the package ytsaurus-yson is not installed: build the image formats anew")

    def _rows(self, source: IO[bytes]) -> Iterator[dict[bytes, Any]]:
        rows: Iterator[dict[bytes, Any]] = self._yson.load(source, **READING)
        return rows

    def _dump(self, rows: Iterable[Mapping[bytes, Any]], sink: IO[bytes]) -> None:
        self._yson.dump(rows, sink, yson_type="list_fragment", yson_format="binary")

    def encode(self, table: Table, rows: Iterable[Row], sink: IO[bytes]) -> None:
        names = [name.encode() for name in table.names]
        self._dump(
            (dict(zip(names, map(self._value, table.columns, row), strict=True)) for row in rows), sink
        )

    def _value(self, column: Column, value: Any) -> Any:
        if _unsigned(column.kind):
            return self._uint64(value)
        if column.kind == "double_list":
            return list(value)
        if column.kind == "point":
            return {b"x": value[0], b"y": value[1]}
        return [list(pair) for pair in value] if column.kind == "marks" else value

    def decode(self, table: Table, source: IO[bytes]) -> Iterator[Row]:
        from yt.yson import parser

        names = [name.encode() for name in table.names]
        for row in parser.load(source, **READING):
            if not isinstance(row, dict) or sorted(row) != sorted(names):
                raise ValueError("a row has other columns than its table")
            yield tuple(map(self._plain, table.columns, (row[name] for name in names)))

    def _plain(self, column: Column, value: Any) -> Any:
        if column.kind == "point":
            return _integer(value[b"x"]), value[b"y"]
        if column.kind == "marks":
            return tuple(sorted((name, _integer(number)) for name, number in value))
        if column.kind == "double_list":
            return tuple(value)
        if column.kind in INTEGERS:
            return _integer(value, self._uint64 if _unsigned(column.kind) else int)
        return value

    def records(self) -> Records:
        return _Records(self)

    def wide(self, source: IO[bytes], sink: IO[bytes]) -> None:
        names, zeros = [name.encode() for name in self.table.names], 0
        for row in self._rows(source):
            for name in names:
                if row[name] == 0:
                    zeros += 1
        self._dump([{b"zeros": zeros}], sink)

    def narrow(self, source: IO[bytes], sink: IO[bytes]) -> None:
        length = 0
        for row in self._rows(source):
            length += (row[b"number"].bit_length() + 7) // 8 + len(row[b"text"])
        self._dump([{b"length": length}], sink)

    def modify(self, source: IO[bytes], sink: IO[bytes]) -> None:
        def modified() -> Iterator[dict[bytes, Any]]:
            for row in self._rows(source):
                row[b"qty"] += 1
                yield row

        self._dump(modified(), sink)

    # The columns of a map have no order, so the position of the new column does not matter.
    def extend(self, source: IO[bytes], sink: IO[bytes]) -> None:
        def extended() -> Iterator[dict[bytes, Any]]:
            for row in self._rows(source):
                row[b"next_qty"] = row[b"qty"] + 1
                yield row

        self._dump(extended(), sink)

    def complex(self, source: IO[bytes], sink: IO[bytes]) -> None:
        def incremented() -> Iterator[dict[bytes, Any]]:
            for row in self._rows(source):
                scores = row[b"scores"]
                row[b"scores"] = [*(score + 1 for score in scores), float(len(scores))]
                yield row

        self._dump(incremented(), sink)

    def write(self, numbers: range, sink: IO[bytes]) -> None:
        uint64 = self._uint64
        user_id, price, qty, flag, name, city, email, ts, note = WRITTEN

        def made() -> Iterator[dict[bytes, Any]]:
            for number in numbers:
                yield {
                    b"id": number,
                    b"user_id": uint64(user_id),
                    b"price": price,
                    b"qty": qty,
                    b"flag": flag,
                    b"name": name,
                    b"city": city,
                    b"email": email,
                    b"ts": uint64(ts),
                    b"note": note,
                }

        self._dump(made(), sink)


class _Record(Record):
    __slots__ = ("names", "row", "types")

    def __init__(self, row: dict[bytes, Any], names: Mapping[Key, bytes], types: Mapping[bytes, Any]) -> None:
        self.row, self.names, self.types = row, names, types

    def get(self, column: Key) -> Any:
        return self.row[self.names[column]]

    def set(self, column: Key, value: Any) -> None:
        name = self.names[column]
        self.row[name] = self.types[name](value) if name in self.types else value


class _Records(Records):
    def __init__(self, format_: YsonFormat) -> None:
        self._format = format_
        self._read, self._new = _names(format_.table), _names(format_.output)
        # the types of unsigned values to set
        self._types = {
            column.name.encode(): format_._uint64
            for column in format_.output.columns
            if _unsigned(column.kind)
        }

    def read(self, source: IO[bytes]) -> Iterator[Record]:
        names, types = self._read, self._types
        return (_Record(row, names, types) for row in self._format._rows(source))

    def new(self) -> Record:
        return _Record({}, self._new, self._types)

    def widened(self, row: Any) -> Record:
        return _Record(row.row, self._new, self._types)

    def write(self, rows: Iterable[Any], sink: IO[bytes]) -> None:
        self._format._dump((row.row for row in rows), sink)


def _unsigned(kind: str) -> bool:
    return not INTEGERS.get(kind, (0, True))[1]


def _integer(value: Any, kind: type[int] = int) -> int:
    """Return the number. Raises ValueError for another type: YSON distinguishes int64, uint64 and double."""
    if type(value) is not kind:
        raise ValueError(f"{value!r} is of another type than its column")
    return int(value)


def _names(table: Table) -> dict[Key, bytes]:
    return {key: name.encode() for key, name in names_of(table).items()}


FORMAT = YsonFormat


class Yson(MapStore):
    """The format YSON, whose rows name their columns."""

    name = "yson"
    encoding = "yson"
    packages = ("ytsaurus-client", "ytsaurus-yson")
