"""Describe the rows of the tables as messages of Protobuf. No file `rows.proto` exists: the description is the file as protoc parses it."""

from __future__ import annotations

from typing import Any

from storebench.stores.map_formats import tables
from storebench.stores.map_formats.tables import INTEGERS, Table

PACKAGE = "storebench.map_formats"
FILE = "rows.proto"
MESSAGES: dict[str, Table] = {
    "Wide": tables.WIDE,
    "Narrow": tables.NARROW,
    "Middle": tables.MIDDLE,
    "Extended": tables.EXTENDED,
    "Complex": tables.COMPLEX,
    "Zeros": tables.ZEROS,
    "Length": tables.LENGTH,
}
# By the kind of a column: whether its field is repeated, and its type; Protobuf has no integers of 8 and 16 bits.
FIELDS = {
    **{
        kind: (False, f"{'' if signed else 'u'}int{64 if bits > 32 else 32}")
        for kind, (bits, signed) in INTEGERS.items()
    },
    "float": (False, "float"),
    "double": (False, "double"),
    "boolean": (False, "bool"),
    "string": (False, "bytes"),
    "optional_string": (False, "bytes"),
    "double_list": (True, "double"),
    "point": (False, "Point"),
    "marks": (True, "Mark"),
}
PARTS = {"Point": {"x": "int64", "y": "string"}, "Mark": {"name": "string", "number": "int64"}}


def message_of(table: Table) -> str:
    """Return the name of the message for a row of the table."""
    if table is tables.INSERTED:  # a field has its number for good: where its column is changes nothing
        table = tables.EXTENDED
    return next(name for name, message in MESSAGES.items() if message is table)


def descriptor() -> Any:
    """Return the file of all messages, a FileDescriptorProto. images/formats/compiled/descriptor makes the same bytes."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

    file = FileDescriptorProto(name=FILE, package=PACKAGE)  # of the syntax proto2: presence is kept
    columns = {
        name: {column.name: column.kind for column in table.columns} for name, table in MESSAGES.items()
    }
    for name, kinds in (PARTS | columns).items():
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(kinds.items(), 1):
            repeated, typed = FIELDS[kind]
            added = message.field.add(name=field, number=number)
            added.label = (
                FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
            )
            if typed in PARTS:
                added.type, added.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.{typed}"
            else:
                added.type = FieldDescriptorProto.Type.Value(f"TYPE_{typed.upper()}")
            if kind == "double_list":
                added.options.packed = True
    return file
