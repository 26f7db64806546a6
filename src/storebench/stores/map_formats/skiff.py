"""Skiff by the row classes of ytsaurus-client: a row is a sequence of fields, by a schema that both sides know."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from functools import cache
from operator import attrgetter
from typing import IO, Any

from storebench.errors import SpecError
from storebench.stores.map_formats import skiff_plain
from storebench.stores.map_formats.base import MapStore
from storebench.stores.map_formats.common import FieldRecord, Record, Records, names_of
from storebench.stores.map_formats.formats import Format
from storebench.stores.map_formats.tables import WRITTEN, Row, Table


class SkiffFormat(Format):
    """Skiff with data classes as rows, which the bindings of ytsaurus-yson fill and read. Every integer has 8 bytes."""

    decoded_by = "a plain reader of this project"

    def ready(self) -> None:
        from yt import skiff

        if not skiff.AVAILABLE:
            raise SpecError("Skiff: the package ytsaurus-yson is not installed: build the image formats anew")
        row = _class(self.table)
        self._new = row if self.output is self.table else _class(self.output)
        self._reader = _format(row, for_reading=True)
        self._writer = _format(self._new, for_reading=False)

    def encode(self, table: Table, rows: Iterable[Row], sink: IO[bytes]) -> None:
        kind, kinds = _class(table), [column.kind for column in table.columns]
        _format(kind, for_reading=False).dump_rows((kind(*map(_value, kinds, row)) for row in rows), sink)

    def decode(self, table: Table, source: IO[bytes]) -> Iterator[Row]:
        return skiff_plain.rows(table, source.read())

    def records(self) -> Records:
        return _Records(self)

    def wide(self, source: IO[bytes], sink: IO[bytes]) -> None:
        names, zeros = self.table.names, 0
        for row in self._reader.load_rows(source):
            for name in names:
                if getattr(row, name) == 0:
                    zeros += 1
        self._writer.dump_rows([self._new(zeros)], sink)

    def narrow(self, source: IO[bytes], sink: IO[bytes]) -> None:
        length = 0
        for row in self._reader.load_rows(source):
            length += (row.number.bit_length() + 7) // 8 + len(row.text)
        self._writer.dump_rows([self._new(length)], sink)

    def modify(self, source: IO[bytes], sink: IO[bytes]) -> None:
        def modified() -> Iterator[Any]:
            for row in self._reader.load_rows(source):
                row.qty += 1
                yield row

        self._writer.dump_rows(modified(), sink)

    def extend(self, source: IO[bytes], sink: IO[bytes]) -> None:
        new, names, place = self._new, self.table.names, self.added

        def extended() -> Iterator[Any]:
            fields = attrgetter(*names)
            for row in self._reader.load_rows(source):
                yield new(*fields(row), row.qty + 1)

        def inserted() -> Iterator[Any]:
            before, after = attrgetter(*names[:place]), attrgetter(*names[place:])
            for row in self._reader.load_rows(source):
                yield new(*before(row), row.qty + 1, *after(row))

        self._writer.dump_rows(extended() if place == len(names) else inserted(), sink)

    def complex(self, source: IO[bytes], sink: IO[bytes]) -> None:
        def incremented() -> Iterator[Any]:
            for row in self._reader.load_rows(source):
                row.scores = [*(score + 1 for score in row.scores), float(len(row.scores))]
                yield row

        self._writer.dump_rows(incremented(), sink)

    def write(self, numbers: range, sink: IO[bytes]) -> None:
        new = self._new
        self._writer.dump_rows((new(number, *WRITTEN) for number in numbers), sink)


class _Records(Records):
    def __init__(self, format_: SkiffFormat) -> None:
        self._reader, self._writer, self._class = format_._reader, format_._writer, format_._new
        self._read, self._new = names_of(format_.table), names_of(format_.output)
        self._empty = (None,) * len(format_.output.columns)
        self._fields, self._place = attrgetter(*format_.table.names), format_.added

    def read(self, source: IO[bytes]) -> Iterator[Record]:
        names = self._read
        return (FieldRecord(row, names) for row in self._reader.load_rows(source))

    def new(self) -> Record:
        return FieldRecord(self._class(*self._empty), self._new)

    def widened(self, row: Any) -> Record:
        values, place = self._fields(row.row), self._place
        return FieldRecord(self._class(*values[:place], None, *values[place:]), self._new)

    def write(self, rows: Iterable[Any], sink: IO[bytes]) -> None:
        self._writer.dump_rows((row.row for row in rows), sink)


@cache
def _point() -> Any:
    from yt.wrapper import yt_dataclass

    return yt_dataclass(dataclasses.make_dataclass("Point", [("x", int), ("y", bytes)]))


def _class(table: Table) -> Any:
    """Create ytsaurus-client's class of the table's rows."""
    from yt.wrapper import schema, yt_dataclass

    types = {
        **{f"int{bits}": getattr(schema, f"Int{bits}") for bits in (8, 16, 32, 64)},
        **{f"uint{bits}": getattr(schema, f"Uint{bits}") for bits in (8, 16, 32, 64)},
        "float": schema.Float,
        "double": float,
        "boolean": bool,
        "string": bytes,
        "optional_string": bytes | None,
        "double_list": list[float],
        "point": _point(),
        "marks": dict[bytes, int],
    }
    fields = [(column.name, types[column.kind]) for column in table.columns]
    return yt_dataclass(dataclasses.make_dataclass("TableRow", fields))


def _format(row: Any, *, for_reading: bool) -> Any:
    from yt.wrapper.format import StructuredSkiffFormat
    from yt.wrapper.schema import TableSchema, _SchemaRuntimeCtx

    schema = _SchemaRuntimeCtx().create_row_py_schema(row, TableSchema.from_row_type(row))
    return StructuredSkiffFormat([schema], for_reading=for_reading)


def _value(kind: str, value: Any) -> Any:
    if kind == "point":
        return _point()(*value)
    return {"double_list": list, "marks": dict}.get(kind, lambda same: same)(value)


FORMAT = SkiffFormat


class Skiff(MapStore):
    """The format Skiff, whose rows only have values."""

    name = "skiff"
    encoding = "skiff"
    packages = ("ytsaurus-client", "ytsaurus-yson")
