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

    servers: list[str] = Field(description="That answered, with their versions")
    durability: list[str]
    machines: list[Machine]
    code_versions: list[str]
    dates: list[date] = Field(description="On which they were recorded, UTC")


class Compared(CellName):
    """One cell's operation on both sides."""

    operation: str
    origin_before: Origin
    origin_after: Origin
    remarks: list[str] = Field(
        description="What is unsound: attempts that failed, were disturbed, or that their client or a service bound; sides of different durability"
    )


class Verdict(Compared):
    """B against A."""

    label: Literal["better", "worse", "higher", "lower", "the same", "cannot tell"] = Field(
        description="Higher and lower where neither is better"
    )
    metric: str | None
    unit: str | None
    reason: str | None = Field(description="Why it cannot be told, and how many repeats would do")
    n_before: int
    n_after: int
    median_before: float
    median_after: float
    mean_before: float | None = Field(
        description="Geometric mean of A's repeats, the outermost tenths left out; None where figures of 0 or below have none"
    )
    mean_after: float | None = Field(description="Likewise of B's")
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    low: float | None
    high: float | None
    p_adjusted: float | None


class Without(Compared):
    """Why there is no verdict."""

    reason: str


class Comparison(Answer):
    """Two sides, cell by cell, and what else differs between them. A side is a run, or several; of two values of a run both are that run."""

    before: list[Run]
    after: list[Run]
    verdicts: list[Verdict]
    without: list[Without]
    units: str = Field(description="What counts once: repeats, rounds, turns, runs")
    differences: list[str]
    test: str
    margin_percent: float
    caution: str | None = Field(description="What the comparison leaves open, whatever its verdicts")
