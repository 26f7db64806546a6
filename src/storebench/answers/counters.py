"""Build the answers about the counters of attempts' servers."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field, RootModel

from storebench.answers.base import Answer
from storebench.answers.figures import named
from storebench.answers.studies import CellName
from storebench.results.database.connection import Row


class CounterFigure(Answer):
    """A counter's values right before and right after an operation."""

    unit: str = Field(description="s, bytes, ratio; empty for a plain number")
    kind: str = Field(
        description="`counter`: a number that only grows, whose difference belongs to the operation. `gauge`: the state of a moment"
    )
    before: float | None
    after: float | None
    difference: float | None = Field(description="`after` without `before`")
    unknown: str | None = Field(description="Why there are no values; None if there are")


class AttemptCounters(CellName):
    """The counters of the server of an attempt."""

    attempt_id: uuid.UUID
    run: str
    operation: str
    repeat: int
    try_number: int
    counters: dict[str, CounterFigure] = Field(
        description="By name, in the order in which the store declares them"
    )


class CountersOfAttempts(RootModel[list[AttemptCounters]]):
    """Counters of attempts."""


def counters_answer(attempts: Iterable[Mapping[str, Any]], counters: Iterable[Row]) -> list[AttemptCounters]:
    """Return the counters of each attempt that has some. `attempts`: rows of `results`. `counters`: `Queries.counters` of these attempts."""
    of_attempts: dict[Any, dict[str, CounterFigure]] = {}
    for row in counters:
        before, after = row["before"], row["after"]
        known = before is not None and after is not None
        of_attempts.setdefault(row["attempt_id"], {})[row["name"]] = CounterFigure(
            **{name: row[name] for name in ("unit", "kind", "before", "after", "unknown")},
            difference=after - before if known else None,
        )
    return [
        AttemptCounters(
            **named(row["cell_key"], row.get("axes")),
            **{name: row[name] for name in ("attempt_id", "run", "operation", "repeat", "try_number")},
            counters=of_attempts[row["attempt_id"]],
        )
        for row in attempts
        if row["attempt_id"] in of_attempts
    ]
