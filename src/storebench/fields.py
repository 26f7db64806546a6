"""The kinds of parameters of a run. Each parameter is a field of the form, and reads values of the form, the API and the command line.

Airflow's number field silently changes a number outside its range to the nearest number in the range. So numbers are text fields. The
form's JSON Schema limits each value (`Field.limits`), so that Airflow does not start a run with a value such as 0 rows. A schema cannot
check everything: `read` refuses the other invalid values in the task `plan`, before any work, with a clear message.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from storebench.declared import MAY_BE_EMPTY
from storebench.errors import SpecError, quoted

JSON_TYPES = ("string", "number", "boolean", "array", "object")
# Digits, also in groups of three: 1,000,000.
WHOLE_NUMBER = re.compile(r"[+-]?([0-9]+|[0-9]{1,3}([,_ ][0-9]{3})+)")
MOST_DIGITS = 100  # the limit of a whole number as text: Python itself reads at most 4,300
# The most characters that the form sends: a number, a text, and the texts of a list
LONGEST_NUMBER, LONGEST_TEXT, LONGEST_LIST = 40, 2_000, 10_000
UNSTORABLE = re.compile("[\\x00\ud800-\udfff]")  # NUL, and halves of surrogate pairs
DEEPEST = 50  # the limit of nested lists and objects in a parameter
TOO_DEEP = "nested too deeply"
JAVA_SIZE = r"[1-9][0-9]*[mg]"
# Kubernetes quantities
CPU = r"[1-9][0-9]*(\.[0-9]+)?m?|0\.[0-9]*[1-9]"
MEMORY = r"[1-9][0-9]*(\.[0-9]+)?(M|G|T|Ki|Mi|Gi|Ti)|[1-9][0-9]{6,}"
HINTS = {
    JAVA_SIZE: "a Java size, such as 1g or 768m",
    CPU: "a number of CPUs, such as 500m, 0.5 or 2",
    MEMORY: "an amount of memory, such as 500Mi or 8Gi",
}
FACTORS = {
    "m": 1e-3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
}


def amount_of(quantity: str) -> float:
    """Return the cores or bytes of a Kubernetes quantity that matches CPU or MEMORY: 0.25 for 250m."""
    digits = quantity.rstrip("mKMGTi")
    unit = quantity[len(digits) :]
    return float(digits) * (FACTORS[unit] if unit else 1)


@dataclass(frozen=True, kw_only=True)
class Field(ABC):
    """A parameter of a run. It may stay empty if its default is None."""

    title: str
    text: str = field(metadata=MAY_BE_EMPTY)
    default: Any = None
    examples: tuple[Any, ...]  # the values that the form offers
    # For a parameter added to a study later: the value that earlier results imply. measured_with ignores a parameter with this value.
    earlier: Any = None

    # Airflow chooses the form's field by the first type, if the schema has examples. "string" is a line of text.
    shown_as: ClassVar[str] = "string"

    @property
    def types(self) -> list[str]:
        """Return the JSON types that the form accepts. The first type decides how the form shows the field."""
        types = [self.shown_as, *(name for name in JSON_TYPES if name != self.shown_as)]
        return [*types, "null"] if self.default is None else types

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits of values as keywords of JSON Schema, each for values of one JSON type. `read` accepts no value beyond them."""
        return {}

    def _text_limits(self, pattern: str, longest: int) -> dict[str, Any]:
        """Return the limits of a text: spaces around it are valid, and an empty text if the parameter may stay empty."""
        empty = "|" if self.default is None else ""
        return {"pattern": rf"^\s*({pattern}{empty})\s*$", "maxLength": longest}

    def read(self, value: Any) -> Any:
        """Return the parameter's value of an input. Raises SpecError for an invalid input."""
        if self.default is None and (value is None or (isinstance(value, str) and not value.strip())):
            return None
        try:
            return self._read(value)
        except RecursionError:  # in the text of a value
            raise SpecError(f"{self.title}: the value is {TOO_DEEP}") from None

    def mistakes(self) -> Iterator[str]:
        """Yield why the default or an example breaks the field's own rules."""
        for what, values in (("default", [self.default]), ("examples", self.examples)):
            for value in values:
                try:
                    self.read(value)
                except SpecError as error:
                    yield f"{what}: {error}"
                except re.error as error:
                    yield f"pattern: no regular expression: {error}"
                    return

    def rules(self) -> dict[str, Any]:
        """Return the field's rules as JSON, without title and text, for `field_of`."""
        values = {
            attribute.name: getattr(self, attribute.name)
            for attribute in fields(self)
            if attribute.name not in ("title", "text", "check")
            and not (attribute.name == "earlier" and self.earlier is None)
        }
        return {"kind": type(self).__name__, **values, "examples": list(self.examples)}

    @abstractmethod
    def _read(self, value: Any) -> Any: ...

    def _refused(self, value: Any, hint: str) -> SpecError:
        return SpecError(f"{self.title}: {quoted(value)} is not {hint}")


@dataclass(frozen=True, kw_only=True)
class WholeNumber(Field):
    """An integer, also as text: `1000`, `1,000`."""

    minimum: int
    maximum: int

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits. A text has no more digits than the largest number, and is not 0 if the smallest number is above 0."""
        groups = (len(str(self.maximum)) - 1) // 3
        digits = rf"0*[0-9]{{1,3}}([,_ ]?[0-9]{{3}}){{0,{groups}}}"
        sign = r"\+?" if self.minimum >= 0 else "[+-]?"
        above_0 = r"(?![0,_ ]*\s*$)" if self.minimum > 0 else ""
        return {
            "minimum": self.minimum,
            "maximum": self.maximum,
            **self._text_limits(sign + above_0 + digits, LONGEST_NUMBER),
        }

    def _read(self, value: Any) -> int:
        number = value
        if isinstance(value, str) and len(value) <= MOST_DIGITS and WHOLE_NUMBER.fullmatch(value.strip()):
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
    """A number above 0, also as text: `2.5`."""

    maximum: float

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits. A text has the form of a number."""
        number = r"\+?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9]+)?"
        return {
            "exclusiveMinimum": 0,
            "maximum": self.maximum,
            **self._text_limits(number, LONGEST_NUMBER),
        }

    def _read(self, value: Any) -> float:
        try:
            number = float("" if isinstance(value, bool) else value)
        except (OverflowError, TypeError, ValueError):
            number = 0.0
        if not 0 < number <= self.maximum:
            raise self._refused(value, f"a number above 0, and at most {self.maximum:,}")
        return number


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    """A boolean, shown as a switch."""

    default: bool | None = False
    examples: tuple[Any, ...] = (True, False)

    shown_as = "boolean"

    def _read(self, value: Any) -> bool:
        known = {"true": True, "yes": True, "false": False, "no": False}
        flag = known.get(str(value).strip().lower())
        if flag is None:
            raise self._refused(value, "true or false")
        return flag


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """A text that matches `pattern`. `hint` describes the pattern for people."""

    pattern: str
    hint: str

    @property
    def types(self) -> list[str]:
        """Return the JSON types, with "null" if an empty text is valid: Airflow requires a value of any other field."""
        types = super().types
        return [*types, "null"] if "null" not in types and re.fullmatch(self.pattern, "") else types

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits: the pattern, and a length."""
        return self._text_limits(self.pattern, LONGEST_TEXT)

    def _read(self, value: Any) -> str:
        text = "" if value is None else str(value).strip()
        if not re.fullmatch(self.pattern, text) or UNSTORABLE.search(text):
            raise self._refused(value, self.hint)
        return text


@dataclass(frozen=True, kw_only=True)
class Values(Field):
    """A list of values, also as comma-separated text. `check` returns a valid value, and raises SpecError for an invalid value."""

    check: Callable[[str], str]

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits: a length. `check` knows the valid values."""
        return {"maxLength": LONGEST_LIST, "minItems": 1}

    def _read(self, value: Any) -> list[str]:
        given = value.split(",") if isinstance(value, str) else value
        if not isinstance(given, (list, tuple)):
            given = [given]
        values = [self.check(text) for item in given if (text := str(item).strip())]
        if not values:
            raise SpecError(f"{self.title}: give at least one of {', '.join(map(str, self.examples))}")
        return list(dict.fromkeys(values))


@dataclass(frozen=True, kw_only=True)
class Choice(Values):
    """A selection of several values that the form lists."""

    shown_as = "array"


KINDS: Mapping[str, type[Field]] = {
    kind.__name__: kind for kind in (WholeNumber, Number, Flag, Text, Values, Choice)
}


def json_of(text: str) -> Any:
    """Return the value of a JSON text.

    Raises ValueError for a text that is no JSON, and for a value that Airflow or the results database cannot store: NaN, an infinite
    number, a text with NUL or half of a surrogate pair, more than DEEPEST nested levels."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    _check_kept(value, DEEPEST)
    return value


def _check_kept(value: Any, depth: int) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number of JSON")
    if isinstance(value, str) and (wrong := UNSTORABLE.search(value)):
        raise ValueError(f"the character {wrong[0]!r} cannot be stored")
    if isinstance(value, dict | list):
        if not depth:
            raise ValueError(TOO_DEEP)
        for inner in value:
            _check_kept(inner, depth - 1)
        for inner in value.values() if isinstance(value, dict) else ():
            _check_kept(inner, depth - 1)


def storable(value: Any, depth: int = DEEPEST) -> Any:
    """Convert a JSON value so that Postgres can store it.

    Characters that Postgres refuses become U+FFFD. Numbers that are not finite become texts. A value below `depth` levels becomes
    TOO_DEEP."""
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping | list | tuple):
        if not depth:
            return TOO_DEEP
        if isinstance(value, Mapping):
            return {storable(str(name)): storable(inner, depth - 1) for name, inner in value.items()}
        return [storable(inner, depth - 1) for inner in value]
    return value


def field_of(title: str, text: str, rules: Mapping[str, Any]) -> Field:
    """Restore a field from its rules (`Field.rules`). The field accepts values that only its study's file can check: the plan checks them.

    Raises SpecError for an unknown kind of field.
    """
    kind = KINDS.get(str(rules.get("kind")))
    if kind is None:
        raise SpecError(f"{title}: there is no kind of parameter {rules.get('kind')!r}")
    values: dict[str, Any] = {field.name: rules[field.name] for field in fields(kind) if field.name in rules}
    if issubclass(kind, Values):
        values["check"] = str
    return kind(title=title, text=text, **{**values, "examples": tuple(values["examples"])})


def size(default: str, pattern: str, title: str, text: str, examples: tuple[str, ...]) -> Text:
    """Create a field for a size. `pattern`: JAVA_SIZE, CPU or MEMORY."""
    return Text(
        title=title, text=text, default=default, examples=examples, pattern=pattern, hint=HINTS[pattern]
    )


def range_text(minimum: int, maximum: int) -> str:
    """Return the sentence about a whole number's range, with which its text ends."""
    return f"From {minimum:,} to {maximum:,}."


def integer(
    default: int | None, minimum: int, maximum: int, title: str, text: str, examples: tuple[int, ...]
) -> WholeNumber:
    """Create a field for a whole number. Its text in the form ends with the range."""
    return WholeNumber(
        title=title,
        text=f"{text} {range_text(minimum, maximum)}",
        default=default,
        examples=examples,
        minimum=minimum,
        maximum=maximum,
    )


def flag(title: str, text: str, *, default: bool | None = False) -> Flag:
    """Create a field for a switch."""
    return Flag(title=title, text=text, default=default)
