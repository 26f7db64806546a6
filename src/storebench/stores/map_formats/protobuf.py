"""The common part of static and dynamic Protobuf: a row is a length in 4 bytes, followed by a message."""

from __future__ import annotations

import os
import struct
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache
from typing import IO, Any

from storebench.errors import SpecError
from storebench.stores.map_formats.check import PROTOBUF
from storebench.stores.map_formats.common import FieldRecord, Key, Record, Records, names_of
from storebench.stores.map_formats.formats import Format
from storebench.stores.map_formats.protobuf_schema import PACKAGE, descriptor, message_of
from storebench.stores.map_formats.tables import Benchmark, Column, Row, Table

LENGTH = struct.Struct("<I")


class ProtobufFormat(Format):
    """Protobuf with messages of proto2. Jobs use the C implementation, upb."""

    decoded_by = "another implementation of Protobuf than the job's"

    def __init__(self, benchmark: Benchmark) -> None:
        super().__init__(benchmark)
        self._row, self._new = self._class(self.table), self._class(self.output)

    @abstractmethod
    def _class(self, table: Table) -> Any:
        """Return the class of the table's messages."""

    def ready(self) -> None:
        from google.protobuf.internal import api_implementation

        if (implementation := api_implementation.Type()) != "upb":
            raise SpecError(
                f"Protobuf: its implementation is {implementation!r} and not upb: build the image formats anew"
            )

    def encode(self, table: Table, rows: Iterable[Row], sink: IO[bytes]) -> None:
        kind = self._class(table)
        for row in rows:
            write(sink, kind(**dict(zip(table.names, map(_value, table.columns, row), strict=True))))

    def decode(self, table: Table, source: IO[bytes]) -> Iterator[Row]:
        from google.protobuf.internal import api_implementation
        from google.protobuf.unknown_fields import UnknownFieldSet

        # The verifying process selects an implementation that did not write the rows (check.py).
        if (implementation := api_implementation.Type()) != os.environ.get(PROTOBUF):
            raise SpecError(
                f"Protobuf: {implementation!r} may have written the rows: another implementation decodes them"
            )
        kind = dynamic_class(table)
        for data in messages(source):
            row = kind.FromString(data)
            if row.FindInitializationErrors() or len(UnknownFieldSet(row)):
                raise ValueError("a message has fields that its table has not")
            yield tuple(_plain(column, row) for column in table.columns)

    def records(self) -> Records:
        return _Records(self)

    def complex(self, source: IO[bytes], sink: IO[bytes]) -> None:
        parse = self._row.FromString
        for data in messages(source):
            row = parse(data)
            row.scores[:] = [*(score + 1 for score in row.scores), float(len(row.scores))]
            write(sink, row)


class _Record(FieldRecord):
    __slots__ = ()

    def set(self, column: Key, value: Any) -> None:
        name = self.names[column]
        if isinstance(value, list):  # a repeated field cannot be assigned
            getattr(self.row, name)[:] = value
        else:
            setattr(self.row, name, value)


class _Records(Records):
    def __init__(self, format_: ProtobufFormat) -> None:
        self._format = format_
        self._read, self._new = names_of(format_.table), names_of(format_.output)

    def read(self, source: IO[bytes]) -> Iterator[Record]:
        # A message of the old table is also a valid message of the new table, so a column can be added.
        extends = self._format.added >= 0
        parse, names = (self._format._new if extends else self._format._row).FromString, self._read
        return (_Record(parse(data), names) for data in messages(source))

    def new(self) -> Record:
        return _Record(self._format._new(), self._new)

    def widened(self, row: Any) -> Record:
        return _Record(row.row, self._new)

    def write(self, rows: Iterable[Any], sink: IO[bytes]) -> None:
        for row in rows:
            write(sink, row.row)


@cache
def _pool() -> Any:
    from google.protobuf import descriptor_pool

    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(descriptor().SerializeToString())
    return pool


def dynamic_class(table: Table) -> Any:
    """Create the class of a table's messages from a descriptor, without generated code."""
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{message_of(table)}"))


def messages(source: IO[bytes]) -> Iterator[bytes]:
    """Yield the messages of a stream as bytes. Raises ValueError with the offset of a truncation."""
    offset = 0
    while head := source.read(4):
        data = source.read(LENGTH.unpack(head)[0]) if len(head) == 4 else b""
        if len(head) < 4 or len(data) < LENGTH.unpack(head)[0]:
            raise ValueError(f"Protobuf, byte {offset:,}: the stream ends within the row that begins here")
        offset += 4 + len(data)
        yield data


def write(sink: IO[bytes], row: Any) -> None:
    """Write the length of a message, and the message."""
    data = row.SerializeToString()
    sink.write(LENGTH.pack(len(data)))
    sink.write(data)


def _value(column: Column, value: Any) -> Any:
    if column.kind == "point":
        return {"x": value[0], "y": value[1]}
    return [{"name": name, "number": number} for name, number in value] if column.kind == "marks" else value


def _plain(column: Column, row: Any) -> Any:
    value = getattr(row, column.name)
    if column.kind == "double_list":
        return tuple(value)
    if column.kind == "marks":
        return tuple(sorted((mark.name, mark.number) for mark in value))
    if not row.HasField(column.name):
        return None
    return (value.x, value.y) if column.kind == "point" else value
