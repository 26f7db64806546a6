"""The tables as messages of Protobuf. `rows.proto` has the same, for the classes that protoc generates."""

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
    """The name of the message that is a row of the table."""
    if table is tables.INSERTED:  # a field has its number for good: where its column is changes nothing
        table = tables.EXTENDED
    return next(name for name, one in MESSAGES.items() if one is table)


def descriptor() -> Any:
    """The file of these messages, as it is made when nothing was generated."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

    file = FileDescriptorProto(name=FILE, package=PACKAGE)  # of the syntax proto2: presence is kept
    columns = {name: {one.name: one.kind for one in table.columns} for name, table in MESSAGES.items()}
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


def proto() -> str:
    """The text of `rows.proto`."""
    columns = {name: {one.name: one.kind for one in table.columns} for name, table in MESSAGES.items()}
    lines = [
        "// The tables of src/storebench/stores/map_formats/tables.py, as protobuf_schema.py writes them.",
        'syntax = "proto2";',
        f"package {PACKAGE};",
    ]
    for name, kinds in (PARTS | columns).items():
        lines += ["", f"message {name} {{"]
        for number, (field, kind) in enumerate(kinds.items(), 1):
            repeated, typed = FIELDS[kind]
            packed = " [packed = true]" if kind == "double_list" else ""
            lines.append(f"  {'repeated' if repeated else 'optional'} {typed} {field} = {number}{packed};")
        lines.append("}")
    return "\n".join(lines) + "\n"
