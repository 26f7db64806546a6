"""Build the answers about the profiles of attempts."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from storebench.answers.base import Answer
from storebench.answers.figures import named
from storebench.answers.studies import CellName
from storebench.protocol.profiles import unpacked
from storebench.results.database.connection import Row


class Profile(Answer):
    """Sampled stacks of an operation."""

    sampler: str = Field(description="The program that sampled, with its version")
    hz: float = Field(description="Samples per second and thread")
    samples: int | None = Field(description="Number of samples, including dropped samples")
    dropped_samples: int | None = Field(
        description="Number of samples of rare stacks that were too many to store"
    )
    folded: str | None = Field(
        description="A line for each stack: functions separated by semicolons, the innermost last, then a space and the number of samples"
    )
    unknown: str | None = Field(description="Why there are no stacks; None if there are")


class AttemptProfiles(CellName):
    """The profiles of an attempt."""

    attempt_id: uuid.UUID
    run: str
    operation: str
    repeat: int
    try_number: int
    profiles: dict[str, Profile] = Field(
        description="By the name of what was sampled, such as `python`; with `_wall` at the end if threads that wait were sampled, too"
    )


def profiles_answer(attempts: Iterable[Mapping[str, Any]], profiles: Iterable[Row]) -> list[AttemptProfiles]:
    """Return the profiles of each attempt that has some. `attempts`: rows of `results`. `profiles`: `Queries.profiles` of these attempts."""
    of_attempts: dict[Any, dict[str, Profile]] = {}
    for row in profiles:
        of_attempts.setdefault(row["attempt_id"], {})[row["name"]] = _profile(row)
    return [
        AttemptProfiles(
            **named(row["cell_key"], row.get("axes")),
            **{name: row[name] for name in ("attempt_id", "run", "operation", "repeat", "try_number")},
            profiles=of_attempts[row["attempt_id"]],
        )
        for row in attempts
        if row["attempt_id"] in of_attempts
    ]


def _profile(row: Row) -> Profile:
    folded, unknown = None, row["unknown"]
    if row["stacks"] is not None:
        try:
            folded = unpacked(row["stacks"])
        except ValueError as error:
            unknown = str(error)
    return Profile(
        **{name: row[name] for name in ("sampler", "hz", "samples", "dropped_samples")},
        folded=folded,
        unknown=unknown,
    )
