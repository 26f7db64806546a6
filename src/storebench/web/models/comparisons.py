"""API models of comparisons."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from storebench.web.models.answers import Answer
from storebench.web.models.attempts import Machine
from storebench.web.models.runs import Run
from storebench.web.models.studies import CellName


class Origin(Answer):
    """The origin of several attempts' figures; a value that they share is listed once."""

    servers: list[str] = Field(description="The servers that answered, with their versions")
    durability: list[str]
    machines: list[Machine]
    code_versions: list[str]
    dates: list[date] = Field(description="The dates when the figures were recorded, UTC")


class Compared(CellName):
    """One cell's operation on both sides."""

    operation: str
    origin_before: Origin
    origin_after: Origin
    remarks: list[str] = Field(
        description="What is unsound: attempts that failed, were disturbed, not judged, client-bound or service-bound; sides of different durability"
    )


class Verdict(Compared):
    """The verdict on a cell's operation: B relative to A."""

    label: Literal["better", "worse", "higher", "lower", "the same", "cannot tell"] = Field(
        description="`higher` and `lower` are for metrics without a better direction"
    )
    metric: str | None
    unit: str | None
    reason: str | None = Field(
        description="Why the verdict is inconclusive, and how many repeats would suffice"
    )
    n_before: int
    n_after: int
    median_before: float
    median_after: float
    mean_before: float | None = Field(
        description="Geometric mean of A's repeats without the lowest and the highest tenth; None if a figure is 0 or below"
    )
    mean_after: float | None = Field(description="Geometric mean of B's repeats, as `mean_before`")
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    low: float | None
    high: float | None
    p_adjusted: float | None


class Without(Compared):
    """A cell's operation without a verdict."""

    reason: str


class Comparison(Answer):
    """Two sides, compared cell by cell, and other differences between the sides. A side is one or more runs; two values of a run share the run."""

    before: list[Run]
    after: list[Run]
    verdicts: list[Verdict]
    without: list[Without]
    units: str = Field(description="The unit that counts once: repeats, rounds, turns or runs")
    differences: list[str]
    test: str
    margin_percent: float
    caution: str | None = Field(description="The limits of the comparison, whatever its verdicts")
