"""Models of the runs that would decide a comparison."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from storebench.answers.base import Answer


class Part(Answer):
    """The run that measures a side in each turn; with side `both`, a single run whose rounds are the turns."""

    side: Literal["A", "B", "both"]
    params: dict[str, Any] = Field(description="The run's parameters; `repeats` is 1 except with side `both`")


class Deciding(Answer):
    """The runs that would decide a comparison, or the reason why none can."""

    dag_id: str
    pairs: int = Field(description="Number of inconclusive verdicts")
    turns: int = Field(description="About how many turns of both sides would decide the verdicts")
    most_turns: int
    parts: list[Part] = Field(description="Empty if refused")
    refused: str | None = Field(description="Why the sides cannot be measured in turns; None if they can")
    hopeless: list[str] = Field(
        description="Verdicts that no number of repeats would decide, with the reasons"
    )
    notes: list[str] = Field(description="Limits of the turns' verdicts")
