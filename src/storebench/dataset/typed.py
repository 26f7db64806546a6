"""The dataset with types: the CSV as Arrow tables, and typed columns back as canonical text.

Needs pyarrow, which only the images of stores with types have: import this module where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from storebench.dataset.custom_times import UNITS
from storebench.dataset.schema import FIELDS, Field
from storebench.dataset.values import decimal_text

MAX_DIGITS = 10  # of a decimal: eight, and room for sums
BLOCK_BYTES = 1 << 22

_TYPES = {
    "integer": pa.int64(),
    "float": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "string": pa.string(),
}


def arrow_schema(schema: Sequence[Field]) -> pa.Schema:
    """The types of Arrow of a dataset with these fields."""
    return pa.schema(
        [
            pa.field(
                field.name,
                pa.decimal128(field.precision or MAX_DIGITS, field.scale)
                if field.type == "decimal"
                else _TYPES[field.type],
                nullable=field.nullable,
            )
            for field in schema
        ]
    )


ARROW_SCHEMA = arrow_schema(FIELDS)


def csv_reader(stream: Any, schema: pa.Schema = ARROW_SCHEMA) -> Iterator[pa.RecordBatch]:
    """The rows of the CSV in the binary file object `stream`, in parts of about BLOCK_BYTES, of this schema.

    The stream is read only by the caller's thread, and only while it waits for the next part: pyarrow's own reader of
    streams runs ahead on other threads, beside whatever is done with a part.
    """
    names: list[str] = []
    rest, ended = b"", False
    while not ended:
        text = rest + stream.read(BLOCK_BYTES)
        ended = len(text) == len(rest)
        end = len(text) if ended else _end_of_records(text)
        rest = text[end:]
        if end:
            table = _parse(memoryview(text)[:end], names, schema)
            names = table.column_names
            yield from table.cast(schema).to_batches()


def _end_of_records(text: bytes) -> int:
    """Return the offset of the end of the last whole record, 0 without one: after a line break with an even number of quotes before it."""
    stop, quotes = len(text), text.count(b'"')
    while (line_break := text.rfind(b"\n", 0, stop)) >= 0:
        quotes -= text.count(b'"', line_break, stop)
        if quotes % 2 == 0:
            return line_break + 1
        stop = line_break
    return 0


def _parse(text: memoryview, names: list[str], schema: pa.Schema) -> pa.Table:
    """Whole records; without `names` the first of them is the header. All threads have done their work when it returns."""
    return csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(column_names=names, block_size=len(text)),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types={field.name: field.type for field in schema},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )


def canonical(columns: Mapping[str, Any], schema: Sequence[Field] = FIELDS) -> dict[str, Any]:
    """Arrow columns of any fitting types, by field name, as columns of canonical text (storebench.dataset.schema).

    Text is taken as it is: a store that was given text has to give back the same text. Raises ValueError for unknown
    fields and for a type that cannot be the field's.
    """
    fields = {field.name: field for field in schema}
    if unknown := [name for name in columns if name not in fields]:
        raise ValueError(f"unknown fields: {', '.join(unknown)}")
    return {name: _text(fields[name], column) for name, column in columns.items()}


def _text(field: Field, column: Any) -> Any:
    kind = column.type
    if pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
        kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if field.type == "boolean" and pa.types.is_boolean(kind):
        return column.cast(pa.string())
    if field.type == "integer" and pa.types.is_integer(kind):
        return column.cast(pa.string())
    if field.type == "date" and pa.types.is_date(kind):
        return column.cast(pa.date32()).cast(pa.string())
    if field.type == "timestamp" and pa.types.is_timestamp(kind):
        utc = column.cast(pa.timestamp(kind.unit, "UTC"))
        # a cast that would lose a part of a second raises ValueError
        return pc.strftime(utc.cast(pa.timestamp(UNITS[field.scale or 0], "UTC")), "%Y-%m-%dT%H:%M:%SZ")
    if field.type == "decimal" and pa.types.is_decimal(kind):
        return column.cast(pa.decimal128(max(18, field.precision or 0), field.scale)).cast(pa.string())
    if field.type == "decimal" and pa.types.is_floating(kind):
        return _formatted(column, lambda value: decimal_text(value, field.scale or 0))
    if field.type == "float" and pa.types.is_floating(kind):
        return _formatted(column, repr)
    raise ValueError(f"field {field.name}: {kind} cannot be {field.type}")


def _formatted(column: Any, text: Callable[[float], str]) -> Any:
    return pa.array([None if value is None else text(value) for value in column.to_pylist()], pa.string())
