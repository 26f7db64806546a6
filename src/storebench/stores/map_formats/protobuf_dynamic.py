"""Protobuf with classes created from a descriptor: the fields are known at run time."""

from __future__ import annotations

from typing import IO, Any

from storebench.stores.base import TypicalTime
from storebench.stores.map_formats.base import MapStore
from storebench.stores.map_formats.protobuf import ProtobufFormat, dynamic_class, messages, write
from storebench.stores.map_formats.tables import WRITTEN, Benchmark, Table


class DynamicFormat(ProtobufFormat):
    """Protobuf whose fields are looked up in the descriptor."""

    def __init__(self, benchmark: Benchmark) -> None:
        super().__init__(benchmark)
        self._new_names = [field.name for field in self._new.DESCRIPTOR.fields]

    def _class(self, table: Table) -> Any:
        return dynamic_class(table)

    def wide(self, source: IO[bytes], sink: IO[bytes]) -> None:
        zeros, parse = 0, self._row.FromString
        for data in messages(source):
            for _, value in parse(data).ListFields():
                if value == 0:
                    zeros += 1
        write(sink, self._filled([zeros]))

    def narrow(self, source: IO[bytes], sink: IO[bytes]) -> None:
        length, parse = 0, self._row.FromString
        for data in messages(source):
            (_, number), (_, text) = parse(data).ListFields()
            length += (number.bit_length() + 7) // 8 + len(text)
        write(sink, self._filled([length]))

    def modify(self, source: IO[bytes], sink: IO[bytes]) -> None:
        parse, name = self._row.FromString, self._new.DESCRIPTOR.fields_by_name["qty"].name
        for data in messages(source):
            row = parse(data)
            setattr(row, name, getattr(row, name) + 1)
            write(sink, row)

    def extend(self, source: IO[bytes], sink: IO[bytes]) -> None:
        parse, fields = self._new.FromString, self._new.DESCRIPTOR.fields_by_name
        name, added = fields["qty"].name, fields["next_qty"].name
        for data in messages(source):
            row = parse(data)
            setattr(row, added, getattr(row, name) + 1)
            write(sink, row)

    def write(self, numbers: range, sink: IO[bytes]) -> None:
        for number in numbers:
            write(sink, self._filled([number, *WRITTEN]))

    def _filled(self, values: list[Any]) -> Any:
        row = self._new()
        for name, value in zip(self._new_names, values, strict=True):
            setattr(row, name, value)
        return row


FORMAT = DynamicFormat


class ProtobufDynamic(MapStore):
    """The format Protobuf with classes created at run time."""

    name = "protobuf-dynamic"
    typical = (
        TypicalTime("map", fixed_s=4, million_s=7),
        TypicalTime("map", fixed_s=4.5, million_s=15, client="python"),
    )
    encoding = "protobuf"
    packages = ("protobuf",)
