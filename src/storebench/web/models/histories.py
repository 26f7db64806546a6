"""API models of a cell over time."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from storebench.web.models.answers import Answer
from storebench.web.models.studies import Better


class RunFigure(Answer):
    """A run's figure for the cell's operation."""

    run_id: str
    at: datetime = Field(description="Of its first attempt")
    attempts: int = Field(description="That count: verified and undisturbed, no warm-ups")
    median: float


class Level(Answer):
    """Runs one after the other that do not differ."""

    first: RunFigure
    last: RunFigure
    runs: int
    median: float = Field(description="Of all attempts of these runs that count")


class Change(Answer):
    """A change from one level to the next."""

    before: Level
    after: Level
    ratio: float | None = Field(
        description="Median after / median before; None where one of them is 0 or below"
    )
    label: Literal["better", "worse", "higher", "lower"] = Field(
        description="Higher and lower where neither is better"
    )


class Series(Answer):
    """Runs in one environment, with the same parameters and method: only these can show a change over time."""

    environment_hash: str
    parameters_hash: str | None
    method_version: int
    runs: int
    levels: list[Level]
    changes: list[Change]
    baselines: dict[str, RunFigure] = Field(description="Those of its runs that are one, by its name")


class CellHistory(Answer):
    """One cell's operation over time, by one metric."""

    metric: str
    unit: str
    better: Better
    series: list[Series] = Field(description="In the order of their first runs")
    fewest: int = Field(description="Runs of a series among which a change can be told")
    method: str = Field(description="How changes are found")
