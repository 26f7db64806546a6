"""Declare the counters of stores, and the JSON Schema of their values in a result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from storebench import declared

CounterKind = Literal["counter", "gauge"]
CounterUnit = Literal["", "s", "bytes", "ratio"]  # "": a plain number
NAME = re.compile("[a-z][a-z0-9_]{0,99}")
MOST_COUNTERS = 200  # of an attempt


@dataclass(frozen=True)
class Counter:
    """A figure that a store's server reports about itself.

    `kind` is `counter` for a number that only grows while the server runs: its growth belongs to the operation. A `gauge` is the state of a
    moment. Raises ValueError for a wrong field.

    Example:
        >>> Counter("flushes", "", "counter", "flushes of the index to disk")
        Counter(name='flushes', unit='', kind='counter', text='flushes of the index to disk')
    """

    name: str
    unit: CounterUnit
    kind: CounterKind
    text: str

    def __post_init__(self) -> None:
        mistakes = [
            mistake
            for mistake in declared.mistakes_of(self, "Counter")
            if self.unit or ".unit" not in mistake
        ]
        if not NAME.fullmatch(self.name):
            mistakes.append(f"Counter.name is {self.name!r}: lower-case letters, digits and _, at most 100")
        if mistakes:
            raise ValueError("; ".join(mistakes))


_VALUE = {"type": ["number", "null"]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "maxProperties": MOST_COUNTERS,
    "propertyNames": {"pattern": f"^{NAME.pattern}$"},
    "additionalProperties": {
        "type": "object",
        "required": ["unit", "kind"],
        "properties": {
            "unit": {"enum": [*get_args(CounterUnit)]},
            "kind": {"enum": [*get_args(CounterKind)]},
            "before": {**_VALUE, "description": "value right before the operation"},
            "after": {**_VALUE, "description": "value right after the operation"},
            "unknown": {
                "type": ["string", "null"],
                "maxLength": 4096,
                "description": "reason why the counter has no values",
            },
        },
    },
    "description": "counters of the store's server, by name",
}
