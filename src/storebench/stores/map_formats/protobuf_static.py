"""Protobuf with classes that protoc has generated: the fields are known when the program is written."""

from __future__ import annotations

from typing import IO, Any

from storebench.stores.map_formats.base import MapStore
from storebench.stores.map_formats.protobuf import ProtobufFormat, messages, write
from storebench.stores.map_formats.protobuf_schema import message_of
from storebench.stores.map_formats.tables import WRITTEN, Table


class StaticFormat(ProtobufFormat):
    """Fields are attributes, by their names."""

    def _class(self, table: Table) -> Any:
        from storebench.stores.map_formats import rows_pb2

        return getattr(rows_pb2, message_of(table))

    def wide(self, source: IO[bytes], sink: IO[bytes]) -> None:
        names, zeros, parse = self.table.names, 0, self._row.FromString
        for data in messages(source):
            row = parse(data)
            for name in names:
                if getattr(row, name) == 0:
                    zeros += 1
        write(sink, self._new(zeros=zeros))

    def narrow(self, source: IO[bytes], sink: IO[bytes]) -> None:
        length, parse = 0, self._row.FromString
        for data in messages(source):
            row = parse(data)
            length += (row.number.bit_length() + 7) // 8 + len(row.text)
        write(sink, self._new(length=length))

    def modify(self, source: IO[bytes], sink: IO[bytes]) -> None:
        parse = self._row.FromString
        for data in messages(source):
            row = parse(data)
            row.qty += 1
            write(sink, row)

    def extend(self, source: IO[bytes], sink: IO[bytes]) -> None:
        parse = self._new.FromString  # a message of the old table is one of the new table, too
        for data in messages(source):
            row = parse(data)
            row.next_qty = row.qty + 1
            write(sink, row)

    def write(self, numbers: range, sink: IO[bytes]) -> None:
        new = self._new
        user_id, price, qty, flag, name, city, email, ts, note = WRITTEN
        for number in numbers:
            row = new(
                id=number,
                user_id=user_id,
                price=price,
                qty=qty,
                flag=flag,
                name=name,
                city=city,
                email=email,
                ts=ts,
                note=note,
            )
            write(sink, row)


FORMAT = StaticFormat


class ProtobufStatic(MapStore):
    """Messages of generated classes."""

    name = "protobuf-static"
    encoding = "protobuf"
    packages = ("protobuf",)
