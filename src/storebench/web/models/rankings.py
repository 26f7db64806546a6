"""API models of rankings."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from storebench.web.models.answers import Answer
from storebench.web.models.attempts import Spread
from storebench.web.models.comparisons import Origin
from storebench.web.models.studies import Better, CellName

Included = Literal["limit", "client-bound", "service-bound", "unlike"]


class RankedCell(CellName):
    """The figures of a cell's operation in the chosen environment, over all runs."""

    took: Spread | None = Field(description="In the metric's unit; None where no attempt counts")
    runs: int = Field(description="Of which its attempts are")
    kind: str | None = Field(description="What it delivers, or else what it promises")
    environment_hash: str | None = Field(description="Of its server, image and machine, which may change")
    parameters_hash: str | None
    method_version: int | None
    origin: Origin


class RankedLine(RankedCell):
    """A cell in its place. A is the best one, B this one."""

    place: int = Field(description="Shared by those that are not told apart from the first one of it")
    label: Literal["the best", "better", "worse", "the same", "cannot tell"]
    reason: str | None = Field(description="Why it cannot be told, and how many repeats would do")
    times: float | None = Field(
        description="Its median by that of the best, or the other way round where more is better; None where one is 0 or below"
    )
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    low: float | None = Field(description="Where the 95 % interval of that ratio begins")
    high: float | None
    remarks: list[str] = Field(description="What is unsound of its attempts")


class Apart(Answer):
    """A reason to be left out."""

    reason: Literal[
        "limit", "client-bound", "service-bound", "unlike", "disturbed", "not verified", "elsewhere"
    ]
    text: str


class LeftOutCell(RankedCell):
    """A cell that is not ranked."""

    reasons: list[Apart]


class RankedDataset(Answer):
    """A dataset that there are results of."""

    rows: int
    seed: int


class RankedEnvironment(Answer):
    """Conditions that cells were measured under."""

    id: str
    text: str
    cells: int
    newest_at: datetime


class Ranking(Answer):
    """A study's cells by one metric of an operation, and all that was chosen, also where nobody did."""

    study: str
    studies: list[str] = Field(description="That may be seen")
    operation: str
    metric: str
    title: str
    unit: str
    better: Better
    rows: int
    seed: int
    datasets: list[RankedDataset]
    axes: dict[str, str] = Field(description="The chosen values; * for all of them")
    offered: dict[str, list[str]] = Field(
        description="The values of each axis, of cells that are alike on those before it"
    )
    environment: str | None = Field(description="The chosen one; None where nothing counts")
    environments: list[RankedEnvironment]
    kind: str | None
    kinds: list[str]
    included: list[Included]
    margin_percent: float
    lines: list[RankedLine]
    left_out: list[LeftOutCell]
    test: str
    caution: str | None = Field(description="What the verdicts leave open")
