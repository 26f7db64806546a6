"""The kinds of fields in a study's form: each is shown by Airflow, and reads what comes back from there, or from the API.

Airflow's number field changes a number that is out of its range to the nearest one in it, and says nothing. So numbers are text
fields. And Airflow answers a value that its schema refuses with a dump of the schema. So the schema takes nearly everything, and
`read` refuses in plain words, in the step `plan`, before any work.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from airflow.sdk import Param

from storebench.errors import SpecError

JSON_TYPES = ("string", "number", "boolean", "array", "object")
# Digits, perhaps in groups of three as people write large numbers.
WHOLE_NUMBER = re.compile(r"[+-]?([0-9]+|[0-9]{1,3}([,_ ][0-9]{3})+)")


@dataclass(frozen=True, kw_only=True)
class Field(ABC):
    """One parameter of a run. Without a default (None) it may stay empty."""

    title: str
    text: str
    default: Any = None
    examples: tuple[Any, ...]  # what the form offers

    # Airflow chooses the field by the first type, if the schema has examples. "string" is one line of text.
    shown_as: ClassVar[str] = "string"

    @property
    def param(self) -> Param:
        """The field as Airflow knows it."""
        types = [self.shown_as, *(name for name in JSON_TYPES if name != self.shown_as)]
        if self.default is None:
            types.append("null")
        return Param(
            self.default,
            type=types,
            examples=list(self.examples),
            title=self.title,
            description_md=self.text,
        )

    def read(self, value: Any) -> Any:
        """The value that `value` means; raises SpecError for one that is not valid."""
        if self.default is None and (value is None or (isinstance(value, str) and not value.strip())):
            return None
        return self._read(value)

    @abstractmethod
    def _read(self, value: Any) -> Any: ...

    def _refused(self, value: Any, hint: str) -> SpecError:
        return SpecError(f"{self.title}: {value!r} is not {hint}")


@dataclass(frozen=True, kw_only=True)
class WholeNumber(Field):
    """An integer, or a text that is one: `1000`, `1,000`."""

    minimum: int
    maximum: int

    def _read(self, value: Any) -> int:
        number = value
        if isinstance(value, str) and WHOLE_NUMBER.fullmatch(value.strip()):
            number = int(re.sub("[,_ ]", "", value))
        elif isinstance(value, float) and value.is_integer():
            number = int(value)
        if isinstance(number, bool) or not isinstance(number, int):
            raise self._refused(value, self._hint)
        if not self.minimum <= number <= self.maximum:
            raise self._refused(value, self._hint)
        return number

    @property
    def _hint(self) -> str:
        return f"a whole number from {self.minimum:,} to {self.maximum:,}"


@dataclass(frozen=True, kw_only=True)
class Number(Field):
    """A number above 0, or a text that is one: `2.5`."""

    maximum: float

    def _read(self, value: Any) -> float:
        try:
            number = float("" if isinstance(value, bool) else value)
        except (TypeError, ValueError):
            number = 0.0
        if not 0 < number <= self.maximum:
            raise self._refused(value, f"a number above 0, and at most {self.maximum:,}")
        return number


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    """Yes or no: a switch."""

    default: bool | None = False
    examples: tuple[Any, ...] = (True, False)

    shown_as = "boolean"

    def _read(self, value: Any) -> bool:
        known = {"true": True, "yes": True, "false": False, "no": False}
        found = known.get(str(value).strip().lower())
        if found is None:
            raise self._refused(value, "true or false")
        return found


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """A text that matches `pattern`; `hint` is the pattern in words."""

    pattern: str
    hint: str

    def _read(self, value: Any) -> str:
        text = str(value).strip()
        if not re.fullmatch(self.pattern, text):
            raise self._refused(value, self.hint)
        return text


@dataclass(frozen=True, kw_only=True)
class Values(Field):
    """Several values: a list, or a text with commas between them. `check` returns one that is valid, and raises SpecError for others."""

    check: Callable[[str], str]

    def _read(self, value: Any) -> list[str]:
        given = value.split(",") if isinstance(value, str) else value
        if not isinstance(given, (list, tuple)):
            given = [given]
        found = [self.check(text) for one in given if (text := str(one).strip())]
        if not found:
            raise SpecError(f"{self.title}: give at least one of {', '.join(map(str, self.examples))}")
        return list(dict.fromkeys(found))


@dataclass(frozen=True, kw_only=True)
class Choice(Values):
    """Several of what the form lists."""

    shown_as = "array"
