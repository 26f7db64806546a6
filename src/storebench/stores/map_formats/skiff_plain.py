"""Decode Skiff in plain Python by its public specification: a second implementation, which reports the offset of an error."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from storebench.stores.map_formats.tables import INTEGERS, Row, Table

END = 0xFF  # the tag after the last element of a list


class SkiffError(ValueError):
    """The error of bytes that are no rows of the table."""

    def __init__(self, offset: int, what: str) -> None:
        super().__init__(f"Skiff, byte {offset:,}: {what}")


def rows(table: Table, data: bytes) -> Iterator[Row]:
    """Yield the rows of a table's stream. Raises SkiffError."""
    reader = _Reader(data)
    kinds = [column.kind for column in table.columns]
    while reader.at < len(data):
        began, index = reader.at, reader.number("<H")
        if index:
            raise SkiffError(began, f"a row of table {index}, and there is one table")
        yield tuple(map(reader.value, kinds))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self, form: str) -> Any:
        size = struct.calcsize(form)
        self._there(size)
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return value

    def value(self, kind: str) -> Any:
        if kind in INTEGERS:  # ytsaurus-client writes every integer with 8 bytes
            return self._integer(*INTEGERS[kind])
        if kind in ("float", "double"):
            return self.number("<d")
        if kind == "boolean":
            return bool(self._tag(0, 1))
        if kind == "string":
            return self._string()
        if kind == "optional_string":
            return self._string() if self._tag(0, 1) else None
        if kind == "double_list":
            return tuple(self._each("double"))
        if kind == "point":
            return self.value("int64"), self._string()
        if kind == "marks":
            return tuple(sorted(self._each("mark")))
        if kind == "mark":
            return self._string(), self.value("int64")
        raise ValueError(f"There is no kind {kind!r}")

    def _each(self, kind: str) -> Iterator[Any]:
        while self._tag(0, END) != END:
            yield self.value(kind)

    def _integer(self, bits: int, signed: bool) -> int:
        began = self.at
        number: int = self.number("<q" if signed else "<Q")
        if not -(1 << bits) * signed <= number < 1 << bits:
            raise SkiffError(began, f"{number} does not fit its column")
        return number

    def _string(self) -> bytes:
        size = self.number("<I")
        self._there(size)
        self.at += size
        return self.data[self.at - size : self.at]

    def _tag(self, *known: int) -> int:
        tag: int = self.number("<B")
        if tag not in known:
            raise SkiffError(self.at - 1, f"the tag {tag}, where {' or '.join(map(str, known))} is known")
        return tag

    def _there(self, size: int) -> None:
        if self.at + size > len(self.data):
            raise SkiffError(
                self.at, f"the stream ends, {self.at + size - len(self.data):,} bytes are missing"
            )
