"""Build the answer about a metric over the size of servers."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pydantic import Field

from storebench.answers.attempts import Origin, Spread
from storebench.answers.base import Answer
from storebench.answers.figures import Origins, named, spread_of
from storebench.answers.studies import CellName
from storebench.results.database.queries import Queries
from storebench.results.forecast.curve import Point, curve_of
from storebench.results.forecast.price import GIB
from storebench.study.model import Metric


class SizePoint(CellName):
    """The figures of a cell's operation with servers of one size."""

    operation: str
    line: str = Field(description="The cell's key without sizes of servers: the points of a line share it")
    cores: float = Field(description="CPU of each server that holds data")
    memory_bytes: float | None = Field(
        description="Memory of each server that holds data; None for the topology's own"
    )
    spread: Spread
    excluded: int = Field(
        description="Attempts that are not verified, were disturbed, lack the metric, or were limited by their client"
    )
    server_pods: int | None = Field(description="Number of all servers of the cell; None if unknown")
    used_cores: float | None = Field(
        description="Cores that all servers kept busy together, median; None if no agent watched them"
    )
    used_memory_bytes: float | None = Field(description="Peak working set of all servers together, median")
    runs: list[str]
    attempts: list[uuid.UUID] = Field(description="The attempts that count")
    origin: Origin


class SizeExclusion(Answer):
    """Runs that are excluded, or some of their cells, and the reason."""

    reason: str
    differ: bool = Field(
        description="Whether these runs have sizes of servers, and differ in something else: without the other runs, they may have a curve"
    )
    runs: list[str]
    cells: list[str]


class ServerSizes(Answer):
    """A metric over the size of servers, from runs that differ in nothing else."""

    study: str
    operation: str
    metric: str
    offered: dict[str, list[Metric]] = Field(
        description="The metrics of each operation for which higher is better"
    )
    points: list[SizePoint] = Field(description="The points by line, the smallest servers first")
    excluded: list[SizeExclusion]
    single: str | None = Field(
        description="If no line has two sizes: the newest run to repeat with another size; None without such a run"
    )


def server_sizes_answer(
    queries: Queries, study: str, operation: str | None, metric: str | None, runs: Sequence[str]
) -> ServerSizes:
    """Build the answer about a metric over the size of servers. Raises SpecError for unknown names."""
    curve = curve_of(queries, study, operation, metric, runs)
    axes = queries.axes_of(point.figures.cell_key for point in curve.points)
    origins = Origins(queries.machines(row for point in curve.points for row in point.figures.attempts))
    return ServerSizes(
        study=study,
        operation=curve.operation,
        metric=curve.metric.name,
        offered={name: list(metrics) for name, metrics in curve.offered.items()},
        points=[_point(point, axes[point.figures.cell_key], origins) for point in curve.points],
        excluded=[SizeExclusion.model_validate(vars(exclusion)) for exclusion in curve.excluded],
        single=curve.single,
    )


def _point(point: Point, axes: dict[str, str], origins: Origins) -> SizePoint:
    figures = point.figures
    assert figures.figure is not None  # a cell without an attempt that counts is excluded
    return SizePoint(
        **named(figures.cell_key, axes),
        operation=figures.operation,
        line=point.line,
        cores=point.cores,
        memory_bytes=point.memory_bytes,
        spread=spread_of(figures.figure),
        excluded=figures.excluded,
        server_pods=figures.attempts[0]["server_pods"],
        used_cores=figures.cores,
        used_memory_bytes=None if figures.gib is None else figures.gib * GIB,
        runs=list(dict.fromkeys(row["run_id"] for row in figures.attempts)),
        attempts=[row["attempt_id"] for row in figures.attempts],
        origin=origins.of(dict(row) for row in figures.attempts),
    )
