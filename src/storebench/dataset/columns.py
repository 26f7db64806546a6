"""Find the types of the columns of a table of texts, while the texts are read.

A column has another type than string only if each of its texts is the canonical text of a value (storebench.dataset.schema). Then a
store that keeps types gives the same text back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime

from storebench.dataset.schema import Field, Type

INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
DECIMAL = re.compile(r"(?!-[0.]+$)-?(0|[1-9][0-9]*)(?:\.([0-9]+))?")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.([0-9]{3}|[0-9]{6}|[0-9]{9}))?Z"
)
INTEGERS = range(-(2**63), 2**63)
MAX_PRECISION = 38  # of a decimal in Arrow, Spark and Delta Lake
MAX_SCALE = 6  # Arrow gives a smaller number than 0.000001 in scientific notation

DATED: tuple[Type, ...] = ("date", "timestamp")
# The types that a CSV's text can have, the narrowest first. A float has many texts, so a float of a CSV stays text.
FROM_TEXT: tuple[Type, ...] = ("boolean", "integer", "decimal", "date", "timestamp")


class Column:
    """A column, by the texts seen so far; it can have one of `types`, or be a string."""

    def __init__(self, name: str, types: Sequence[Type] = FROM_TEXT) -> None:
        self.name = name
        self._types = list(types)
        self._from_text = types is FROM_TEXT
        self._nullable = self._filled = False
        self._longest = 0
        self._digits = 0  # of decimals, before the point
        self._scale: int | None = None
        self._places: int | None = None  # decimal places of the seconds of timestamps
        self._earliest = self._latest = ""
        self._misfit: str | None = None

    def update(self, texts: Sequence[str]) -> None:
        """Update the column's statistics with a chunk of texts; a null is empty."""
        present = {text for text in texts if text}
        self._nullable = self._nullable or "" in texts
        if not present:
            return
        self._filled = True
        self._longest = max(self._longest, max(map(len, present)))
        before = self._types
        self._types = [kind for kind in before if _CHECKS[kind](self, present)]
        if before and not self._types:
            kind = before[-1]
            self._misfit = next((text for text in sorted(present) if not _CHECKS[kind](self, {text})), None)

    @property
    def longest(self) -> int:
        """The characters of its longest text."""
        return self._longest

    def has_name_of_its_type(self) -> bool:
        """Return whether the name reads as a value of the column's type, as in a CSV without a header."""
        name = Column(self.name)
        name.update([self.name])
        of_name, of_column = name.field(), self.field()
        return self._from_text and (of_name.type, of_name.scale) == (of_column.type, of_column.scale)

    def field(self) -> Field:
        """Describe the column by all texts seen. A column of nulls alone is a string."""
        kind: Type = self._types[0] if self._types and self._filled else "string"
        scale, dated = {"decimal": self._scale, "timestamp": self._places or None}, kind in DATED
        return Field(
            self.name,
            kind,
            "",
            nullable=self._nullable,
            scale=scale.get(kind),
            precision=self._digits + (self._scale or 0) if kind == "decimal" else None,
            longest=self._longest,
            earliest=self._earliest if dated else None,
            latest=self._latest if dated else None,
            misfit=None if self._from_text else self._misfit,
        )

    def _is_decimal(self, texts: set[str]) -> bool:
        matches = list(map(DECIMAL.fullmatch, texts))
        parts = [match.groups(default="") for match in matches if match]
        scales = {len(places) for _, places in parts} | ({self._scale} if self._scale is not None else set())
        if len(parts) < len(matches) or len(scales) != 1:
            return False
        (self._scale,) = scales
        self._digits = max(self._digits, max(len(digits) for digits, _ in parts))
        return self._scale <= MAX_SCALE and self._digits + self._scale <= MAX_PRECISION

    def _is_date(self, texts: set[str]) -> bool:
        return all(map(DATE.fullmatch, texts)) and self._are(texts, date.fromisoformat)

    def _is_timestamp(self, texts: set[str]) -> bool:
        matches = list(map(TIMESTAMP.fullmatch, texts))
        places = {len(match[1] or "") for match in matches if match}
        places |= {self._places} if self._places is not None else set()
        if None in matches or len(places) != 1:
            return False
        (self._places,) = places
        return self._are(texts, datetime.fromisoformat)

    def _are(self, texts: set[str], read: Callable[[str], object]) -> bool:
        """Return whether `read` takes all texts; if so, update the earliest and the latest text."""
        try:
            for text in texts:
                read(text)
        except ValueError:
            return False
        self._earliest = min(texts | ({self._earliest} - {""}))
        self._latest = max(self._latest, *texts)
        return True


def _is_integer(column: Column, texts: set[str]) -> bool:
    return all(map(INTEGER.fullmatch, texts)) and all(int(text) in INTEGERS for text in texts)


_CHECKS: Mapping[Type, Callable[[Column, set[str]], bool]] = {
    "boolean": lambda column, texts: texts <= {"true", "false"},
    "integer": _is_integer,
    "decimal": Column._is_decimal,
    "float": lambda column, texts: True,  # it comes from doubles
    "date": Column._is_date,
    "timestamp": Column._is_timestamp,
    "string": lambda column, texts: True,
}
