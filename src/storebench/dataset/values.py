"""Python values of any types as canonical text: what `storebench.dataset.typed` does for Arrow columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from storebench.dataset.schema import FIELDS, Field

TIMESPECS = {0: "seconds", 3: "milliseconds", 6: "microseconds"}

_TEXTS: dict[str, dict[type, Callable[[Any], str]]] = {
    "integer": {int: str},
    "float": {float: repr},
    "boolean": {bool: lambda value: "true" if value else "false"},
    "date": {date: date.isoformat},
    "string": {},
}


def canonical(
    columns: Mapping[str, Sequence[Any]], schema: Sequence[Field] = FIELDS
) -> dict[str, Sequence[str | None]]:
    """Columns of Python values, by field name, as columns of canonical text (storebench.dataset.schema).

    Text is taken as it is: a store that was given text has to give back the same text. Raises ValueError for unknown
    fields and for a value of a type that cannot be the field's.
    """
    fields = {field.name: field for field in schema}
    if unknown := [name for name in columns if name not in fields]:
        raise ValueError(f"unknown fields: {', '.join(unknown)}")
    return {name: _texts(fields[name], column) for name, column in columns.items()}


def decimal_text(value: float, scale: int) -> str:
    """The double with `scale` decimal places; one that is not the double of any such text gives its own."""
    text = f"{value:.{scale}f}"
    return text if float(text) == value else repr(value)


def _texts(field: Field, column: Sequence[Any]) -> Sequence[str | None]:
    if set(map(type, column)) <= {str, type(None)}:
        return column
    texts: dict[type, Callable[[Any], str | None]] = {str: str, type(None): lambda value: None}
    if field.type == "decimal":
        scale = field.scale or 0
        texts |= {
            float: lambda value: decimal_text(value, scale),
            Decimal: lambda value: _exact(value, scale),
        }
    elif field.type == "timestamp":
        texts |= {datetime: lambda value: _moment(value, field.scale or 0)}
    else:
        texts |= _TEXTS[field.type]
    try:
        return [texts[type(value)](value) for value in column]
    except KeyError as error:
        raise ValueError(f"field {field.name}: {error.args[0].__name__} cannot be {field.type}") from None


def _moment(value: datetime, places: int) -> str:
    """The text with `places` decimal places of the second; a time that they do not hold gives its own text.

    A time without a zone is the process's own, as Spark hands it over.
    """
    utc = value.astimezone(UTC)
    held = utc.microsecond % 10 ** max(0, 6 - places) == 0
    return utc.isoformat(timespec=TIMESPECS[places] if held else "auto").replace("+00:00", "Z")


def _exact(value: Decimal, scale: int) -> str:
    text = f"{value:.{scale}f}"
    return text if Decimal(text) == value else str(value)
