"""API models of the runs that would decide a comparison."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from storebench.web.models.answers import Answer


class Part(Answer):
    """A run of each turn, or, of both sides, the one run whose rounds are the turns."""

    side: Literal["A", "B", "both"]
    params: dict[str, Any] = Field(description="Of the run, whose repeats are 1 but for both sides")


class Deciding(Answer):
    """The runs that would decide a comparison, or the reason why none can."""

    dag_id: str
    pairs: int = Field(description="Verdicts that cannot tell")
    turns: int = Field(description="Of both sides: in about so many they could be told")
    most_turns: int
    parts: list[Part] = Field(description="Empty where it is refused")
    refused: str | None = Field(description="Why the sides cannot be measured in turns, if they cannot")
    hopeless: list[str] = Field(description="What no number of repeats would tell, with the reasons")
    notes: list[str] = Field(description="What one has to know of what the turns will tell")
