"""Build the answer about a cell over time."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from storebench.answers.base import Answer
from storebench.answers.figures import scalar_metrics
from storebench.results.database.queries import Queries
from storebench.results.runs.history import history
from storebench.results.statistics.changes import METHOD, MIN_FIGURES
from storebench.study.cell import Cell
from storebench.study.model import Better, Metric


class RunFigure(Answer):
    """A run's figure for the cell's operation."""

    run_id: str
    at: datetime = Field(description="Time of the run's first attempt")
    attempts: int = Field(description="Number of counted attempts: verified, undisturbed, no warm-ups")
    median: float


class Level(Answer):
    """Consecutive runs whose figures do not differ."""

    first: RunFigure
    last: RunFigure
    runs: int
    median: float = Field(description="Median of all counted attempts of these runs")


class Change(Answer):
    """A change from one level to the next."""

    before: Level
    after: Level
    ratio: float | None = Field(
        description="Median after / median before; None if either median is 0 or below"
    )
    verdict: Literal["better", "worse", "higher", "lower"] = Field(
        description="`higher` and `lower` are for metrics without a better direction"
    )


class Series(Answer):
    """Runs in one environment with the same parameters and method: only such runs can show a change over time."""

    environment_hash: str
    parameters_hash: str | None
    method_version: int
    runs: int
    levels: list[Level]
    changes: list[Change]
    baselines: dict[str, RunFigure] = Field(
        description="The runs of the series that are baselines, by the baseline's name"
    )


class CellHistory(Answer):
    """One cell's operation over time, by one metric."""

    cell_key: str
    operation: str
    metric: str
    unit: str
    better: Better
    series: list[Series] = Field(description="Series in the order of their first runs")
    fewest: int = Field(description="The number of runs in a series that a change needs")
    method: str = Field(description="The method that finds changes")
    metrics: list[Metric] = Field(
        description="The metrics of the operation that have a history: the ranking metric first, the common metrics last"
    )


def history_answer(queries: Queries, cell_key: str, operation: str, metric: str | None) -> CellHistory:
    """Build the answer about a cell's operation over time. `metric`: None for the ranking metric. Raises SpecError for an invalid cell key,
    and for a study without results.
    """
    fields = {
        **vars(history(queries, cell_key, operation, metric)),
        "cell_key": cell_key,
        "operation": operation,
        "fewest": MIN_FIGURES,
        "method": METHOD,
        "metrics": scalar_metrics(queries, [(Cell.from_key(cell_key).study, operation)]),
    }
    return CellHistory.model_validate(fields, from_attributes=True)
