"""API models of rankings."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from storebench.study.model import Better
from storebench.web.models.answers import Answer
from storebench.web.models.attempts import Spread
from storebench.web.models.comparisons import Origin
from storebench.web.models.studies import CellName

Included = Literal["limit", "client-bound", "service-bound", "unlike"]


class RankedCell(CellName):
    """The figures of a cell's operation in the chosen environment, over all runs."""

    took: Spread | None = Field(
        description="Median and interval in the metric's unit; None if no attempt counts"
    )
    runs: int = Field(description="Number of runs with attempts of the cell")
    kind: str | None = Field(
        description="What the operation hands to the program, or else the durability that the store guarantees"
    )
    environment_hash: str | None = Field(
        description="Hash of the cell's server, image and machine, which may change"
    )
    parameters_hash: str | None
    method_version: int | None
    origin: Origin


class RankedLine(RankedCell):
    """A ranked cell. A is the best cell, B is this cell."""

    place: int = Field(
        description="The cell's place, shared by cells that do not differ from the first cell of the place"
    )
    label: Literal["the best", "better", "worse", "the same", "cannot tell"]
    reason: str | None = Field(
        description="Why the verdict is inconclusive, and how many repeats would suffice"
    )
    times: float | None = Field(
        description="The cell's median / the best cell's median, or the reciprocal where higher is better; None if either median is 0 or below"
    )
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    low: float | None = Field(description="Lower bound of the ratio's 95 % interval")
    high: float | None
    remarks: list[str] = Field(
        description="What is unsound about the cell's attempts, and how many attempts of the best cell were not judged"
    )


class Apart(Answer):
    """A reason to exclude a cell."""

    reason: Literal[
        "limit", "client-bound", "service-bound", "unlike", "disturbed", "not verified", "elsewhere"
    ]
    text: str


class LeftOutCell(RankedCell):
    """An excluded cell."""

    reasons: list[Apart]


class RankedDataset(Answer):
    """A dataset with results."""

    rows: int
    seed: int


class RankedEnvironment(Answer):
    """Conditions that cells were measured under."""

    id: str
    text: str
    cells: int
    newest_at: datetime


class Ranking(Answer):
    """A ranking of a study's cells by one metric of an operation, with all choices, including defaults."""

    study: str
    studies: list[str] = Field(description="The studies that the user may see")
    operation: str
    metric: str
    title: str
    unit: str
    better: Better
    rows: int
    seed: int
    datasets: list[RankedDataset]
    axes: dict[str, str] = Field(description="The chosen value of each axis; * for all values")
    offered: dict[str, list[str]] = Field(
        description="The values of each axis, among cells with the chosen values of the preceding axes"
    )
    environment: str | None = Field(description="The chosen environment; None if no attempt counts")
    environments: list[RankedEnvironment]
    kind: str | None
    kinds: list[str]
    included: list[Included]
    margin_percent: float
    lines: list[RankedLine]
    left_out: list[LeftOutCell]
    test: str
    caution: str | None = Field(description="The limits of the verdicts")
