"""Compare sizes of servers: a metric over the servers' size, from runs that differ in nothing else."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from storebench.errors import SpecError, unknown
from storebench.fields import amount_of
from storebench.results.database.measurements import guarantee_of, metrics_of
from storebench.results.database.queries import Queries
from storebench.results.forecast.sets import (
    ServerSet,
    operation_seconds,
    server_sets,
    shows_servers,
    sizes_of,
)
from storebench.results.runs.conditions import conditions_of, id_of
from storebench.study.cell import Cell
from storebench.study.model import Metric
from storebench.study.record import SCALAR, StudyRecord

CPU, MEMORY = "server_cpu", "server_memory"  # the parameters, or axes, in which the points of a curve differ
COLUMNS = (
    "attempt_id",
    "dataset_id",
    "server_pods",
    "servers_cpu_s",
    "servers_memory_working_set_peak_bytes",
)  # columns of the view `results` that comparisons do not read
UNSET = f"{CPU} is not set, so the servers could use all CPUs of their nodes"
ELSEWHERE = "the run did not provision the servers"
NONE_COUNTS = "no attempt counts: each has failed, was disturbed, or was limited by its client"


@dataclass(frozen=True)
class Point:
    """A point of a line: the figures of the sets of servers of one size. `line`: the key of its cell without sizes of servers.

    `cores`, `memory_bytes`: the CPU and memory of each server that holds data; None for the topology's own memory.
    """

    line: str
    cores: float
    memory_bytes: float | None
    figures: ServerSet


@dataclass(frozen=True)
class Exclusion:
    """A reason to exclude runs, with their cells of the same reason. `differ`: they have sizes, and differ in something else."""

    reason: str
    differ: bool
    runs: tuple[str, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Curve:
    """A metric over the servers' size. `offered`: the metrics of each operation for which higher is better.

    `single`: the newest run to repeat with another size, if no line has two sizes; else None.
    """

    operation: str
    metric: Metric
    offered: Mapping[str, Sequence[Metric]]
    points: Sequence[Point]
    excluded: Sequence[Exclusion]
    single: str | None


@dataclass(frozen=True)
class _Cell:
    """The attempts of a run at a cell. `shared`: conditions that all lines share. `own`: further conditions of its line."""

    run_id: str
    line: str
    rows: Sequence[Mapping[str, Any]]
    size: tuple[float, float | None]
    shared: Mapping[str, Any]
    own: Mapping[str, Any]
    newest_at: datetime


def curve_of(
    queries: Queries, study_name: str, operation: str | None, metric: str | None, runs: Sequence[str] = ()
) -> Curve:
    """Return the curve of a metric, from all runs of a study or only from `runs`.

    `operation`, `metric`: None for the first for which higher is better. Raises SpecError for names that the study does not have.
    """
    study = queries.study(study_name)
    offered = offered_of(study)
    operation, metric = _chosen(offered, operation, metric)
    ids = {queries.run_named(name, study_name)["id"] for name in runs}
    keys = [row["key"] for row in queries.cells_of_study(study_name, operation)]
    # only a store at a named server can have servers of a run
    keys = [key for key in keys if "@" in Cell.from_key(key).store]
    rows = queries.compared_at(keys, operation, metric, COLUMNS)
    rows = [row for row in rows if not ids or row["run_id"] in ids]
    environments = queries.environments({row["environment_hash"] for row in rows} - {None})
    kept, excluded = alike(study, rows, environments)
    seconds = operation_seconds(queries, [row["attempt_id"] for cell in kept for row in cell.rows])
    points = points_of(kept, seconds)
    return Curve(
        operation,
        metrics_of(study)[metric],
        offered,
        points,
        excluded,
        _single(points, rows),
    )


def offered_of(study: StudyRecord) -> dict[str, list[Metric]]:
    """Return the scalar metrics of each operation for which higher is better, without operations that have none.

    A metric that no operation lists is reported at some values of an axis only: the operations of its charts have the metric, or else all.
    """
    listed = {name for record in study.operations for name in record.metrics}
    charts = {chart.metric: chart.operations for chart in study.charts}
    offered = {
        record.name: [
            metric
            for metric in study.metrics
            if metric.kind == SCALAR and metric.better == "higher"
            if metric.name in record.metrics
            or (metric.name not in listed and record.name in (charts.get(metric.name) or (record.name,)))
        ]
        for record in study.operations
    }
    return {operation: metrics for operation, metrics in offered.items() if metrics}


def _chosen(
    offered: Mapping[str, Sequence[Metric]], operation: str | None, metric: str | None
) -> tuple[str, str]:
    if not offered:
        raise SpecError("The study has no metric for which higher is better")
    names = {name: [known.name for known in metrics] for name, metrics in offered.items()}
    if operation is None:
        operation = next((name for name, known in names.items() if metric in known), next(iter(names)))
    if operation not in names:
        raise unknown("operation with a metric for which higher is better", operation, names)
    if metric is not None and metric not in names[operation]:
        raise unknown("metric for which higher is better", metric, names[operation])
    return operation, metric or names[operation][0]


def alike(
    study: StudyRecord,
    rows: Iterable[Mapping[str, Any]],
    environments: Mapping[str, Mapping[str, Any]],
) -> tuple[list[_Cell], list[Exclusion]]:
    """Return the attempts that differ only in the size of servers, by run and cell, and why others are excluded.

    Keeps the conditions with the most sizes; among equals, the newest. `rows`: from `compared_at`. `environments`: details by hash.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["run_id"], row["cell_key"]].append(row)
    excluded: dict[str, list[tuple[str, str]]] = defaultdict(list)
    cells = []
    for (run_id, key), attempts in groups.items():
        if all(row["status"] == "verified" and row["value"] is None for row in attempts):
            continue  # cells with other values on the axes may lack the metric
        if reason := _unusable(attempts):
            excluded[reason].append((run_id, key))
        else:
            cells.append(_cell(study, attempts, environments))
    sharing, others = _largest(cells, lambda cell: cell.shared)
    lines: dict[str, list[_Cell]] = defaultdict(list)
    for cell in sharing:
        lines[cell.line].append(cell)
    kept = []
    for line in lines.values():
        of_line, unlike = _largest(line, lambda cell: cell.own)
        kept += of_line
        others += unlike
    for cell, reason in others:
        excluded[reason].append((cell.run_id, cell.rows[0]["cell_key"]))
    reasons = (UNSET, ELSEWHERE, NONE_COUNTS)
    return kept, [
        Exclusion(
            reason,
            reason not in reasons,
            *(tuple(dict.fromkeys(names)) for names in zip(*pairs, strict=True)),
        )
        for reason, pairs in excluded.items()
    ]


def points_of(cells: Sequence[_Cell], operation_s: Mapping[uuid.UUID, float]) -> list[Point]:
    """Return the points of these attempts by line, the smallest servers first. `operation_s`: from `operation_seconds`."""
    lines = list(dict.fromkeys(cell.line for cell in cells))
    places = {(cell.rows[0]["cell_key"], cell.size): cell.line for cell in cells}
    points = []
    for figures in server_sets(
        [row for cell in cells for row in cell.rows], operation_s, lambda row: row["value"]
    ):
        size = _size(figures.sizes)
        points.append(Point(places[figures.cell_key, size], *size, figures))
    return sorted(points, key=lambda point: (lines.index(point.line), point.cores, point.memory_bytes or 0.0))


def _unusable(attempts: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the reason to exclude a run's attempts at a cell, apart from differences between runs; None without a reason."""
    counted = _counted(attempts)
    if not counted:
        return NONE_COUNTS
    if CPU in sizes_of(counted[0]):
        return None
    # only attempts at servers that the run provisions record the sizes
    return UNSET if CPU in (counted[0]["parameters"] or {}) else ELSEWHERE


def _counted(attempts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in attempts if shows_servers(row) and row["value"] is not None]


def _size(sizes: Mapping[str, Any]) -> tuple[float, float | None]:
    return amount_of(sizes[CPU]), amount_of(sizes[MEMORY]) if MEMORY in sizes else None


def _cell(
    study: StudyRecord,
    attempts: Sequence[Mapping[str, Any]],
    environments: Mapping[str, Mapping[str, Any]],
) -> _Cell:
    counted = _counted(attempts)
    first = counted[0]
    cell = Cell.from_key(first["cell_key"])
    environment = environments.get(first["environment_hash"] or "", {})
    servers = environment.get("servers", {})
    conditions = conditions_of(study, first, environment)
    settings = {
        name: value for name, value in conditions.pop("parameters", {}).items() if name not in (CPU, MEMORY)
    }
    options = {name for store in study.stores for name in store.options}
    return _Cell(
        run_id=first["run_id"],
        line=replace(cell, axes=tuple(axis for axis in cell.axes if axis[0] not in (CPU, MEMORY))).key,
        # an attempt that failed early has no parameters
        rows=[{**row, "parameters": first["parameters"]} for row in attempts],
        size=_size(sizes_of(first)),
        shared={
            "rows": cell.rows,
            "seed": cell.seed,
            "guarantee": guarantee_of([dict(row) for row in counted]),
            **conditions,
            **settings,
        },
        own={
            **{name: value for name, value in (first["parameters"] or {}).items() if name in options},
            "dataset": first["dataset_id"],
            "server": " ".join(filter(None, (first["server_name"], first["server_version"]))),
            "image": environment.get("image"),
            "servers' images": ", ".join(servers.get("images", ())),
            "servers on the client's node": servers.get("share_the_clients_node"),
        },
        newest_at=max(row["recorded_at"] for row in counted),
    )


def _largest(cells: Sequence[_Cell], conditions: Any) -> tuple[list[_Cell], list[tuple[_Cell, str]]]:
    """Return the cells of the conditions with the most sizes of a line, and the other cells with how they differ.

    `conditions`: returns the conditions of a cell.
    """
    groups: dict[str, list[_Cell]] = defaultdict(list)
    for cell in cells:
        groups[id_of(conditions(cell))].append(cell)
    if not groups:
        return [], []

    def worth(group: list[_Cell]) -> tuple[int, int, datetime]:
        sizes: dict[str, set[Any]] = defaultdict(set)
        for cell in group:
            sizes[cell.line].add(cell.size)
        counts = [len(of_line) for of_line in sizes.values()]
        return max(counts), sum(counts), max(cell.newest_at for cell in group)

    kept = max(groups.values(), key=worth)
    chosen = conditions(kept[0])
    others = [
        (cell, _difference(conditions(cell), chosen))
        for group in groups.values()
        if group is not kept
        for cell in group
    ]
    return kept, others


def _difference(conditions: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    names = [name for name in {**chosen, **conditions} if conditions.get(name) != chosen.get(name)]
    return "; ".join(f"{name} {_text(conditions.get(name))}, not {_text(chosen.get(name))}" for name in names)


def _text(value: Any) -> str:
    return "unset" if value is None or value == "" else str(value)


def _single(points: Sequence[Point], rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the newest run to repeat with another size: of the points, or else of `rows` whose servers the run provisioned."""
    sizes: dict[str, set[Any]] = defaultdict(set)
    for point in points:
        sizes[point.line].add(point.cores)
    if any(len(of_line) > 1 for of_line in sizes.values()):
        return None
    candidates = [row for point in points for row in point.figures.attempts] or [
        row for row in rows if row["value"] is not None and CPU in (row["parameters"] or {})
    ]
    newest = max(candidates, key=lambda row: row["recorded_at"], default=None)
    return newest["run_id"] if newest else None
