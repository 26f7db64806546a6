"""Find the history of a cell's operation: levels of its figures, changes between levels, and baselines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from storebench.results.database.connection import Row
from storebench.results.database.measurements import better_of
from storebench.results.database.queries import Queries, counts
from storebench.results.statistics.changes import MIN_LEVEL, levels
from storebench.results.statistics.intervals import summarize
from storebench.results.statistics.verdicts import LABELS
from storebench.study.cell import Cell
from storebench.study.model import Better, unit_of

# Columns that are equal within a series: another machine, pod size or method is no change over time.
ALIKE = ("environment_hash", "parameters_hash", "method_version")


@dataclass(frozen=True)
class Figure:
    """A run's figure for a cell's operation: the values of the attempts that count, in the metric's unit."""

    run_id: str
    at: datetime  # start of the run's first attempt
    values: tuple[float, ...]

    @property
    def attempts(self) -> int:
        """Return the number of attempts, at least 1."""
        return len(self.values)

    @property
    def median(self) -> float:
        """Return the median of the run's values."""
        return summarize(self.values).median


@dataclass(frozen=True)
class Level:
    """Consecutive runs without a change: the first and the last run, their number, and the median of all their attempts."""

    first: Figure
    last: Figure
    runs: int
    median: float


@dataclass(frozen=True)
class Change:
    """A change from one level to the next. `ratio`: of the medians; None if a median is not positive. `verdict`: its label, as in verdicts."""

    before: Level
    after: Level
    ratio: float | None
    verdict: str


@dataclass(frozen=True)
class Series:
    """Runs with equal ALIKE columns, oldest first. `baselines`: the baselines among these runs by name."""

    environment_hash: str
    parameters_hash: str | None
    method_version: int
    runs: int
    levels: list[Level]
    changes: list[Change]
    baselines: dict[str, Figure]


@dataclass(frozen=True)
class History:
    """The history of a cell's operation by one metric. The series are in the order of their first runs."""

    metric: str
    unit: str
    better: Better
    series: list[Series]


def history(queries: Queries, cell_key: str, operation: str, metric: str | None = None) -> History:
    """Return the history of a cell's operation in the metric that ranks it, or in `metric`.

    Only verified and undisturbed attempts count, without warm-ups, and only the newest try. Raises SpecError for an invalid cell
    key, and for a study without results.
    """
    study = queries.study(Cell.from_key(cell_key).study)
    ranking = next((record.ranked_by for record in study.operations if record.name == operation), "")
    name = metric or ranking
    better = better_of(study, name)
    rows = queries.compared_at([cell_key], operation, name)
    names: dict[str, list[str]] = {}
    for baseline, run_id in queries.baselines().items():
        names.setdefault(run_id, []).append(baseline)
    return History(name, unit_of(name), better, list(_series(rows, better, names)))


@dataclass(frozen=True)
class NewChange:
    """A change of a cell's operation that the newest run has shown."""

    cell_key: str
    operation: str
    metric: str
    unit: str
    change: Change

    def __str__(self) -> str:
        """Return a sentence: cell, operation, verdict, both medians, and the run with which the new level begins."""
        before, after = (
            f"{level.median:.3g} {self.unit}".rstrip() for level in (self.change.before, self.change.after)
        )
        return (
            f"{self.cell_key}, {self.operation}: {self.change.verdict} since the run {self.change.after.first.run_id}, {self.metric}"
            f" {before} before and {after} after"
        )


def new_changes(queries: Queries, run_id: str) -> list[NewChange]:
    """Return the changes of the ranking metrics that are found with this run, and were not found without this run.

    A level needs several runs, so a change is found some runs after the first changed run, and only once. A run is only considered where
    it is the newest of its series. Raises SpecError for a study without results.
    """
    found = []
    keys = queries.cells_of_run(run_id)
    for study_name, operation in sorted(queries.operations_of_runs([run_id])):
        study = queries.study(study_name)
        metric = next((record.ranked_by for record in study.operations if record.name == operation), "")
        better = better_of(study, metric)
        of_cells: dict[str, list[Row]] = {key: [] for key in keys}
        for row in queries.compared_at(keys, operation, metric):
            of_cells[row["cell_key"]].append(row)
        for key, rows in of_cells.items():
            found += [
                NewChange(key, operation, metric, unit_of(metric), change)
                for figures in _alike(rows).values()
                if figures[-1].run_id == run_id and (change := _new_change(figures, better))
            ]
    return found


def _new_change(figures: Sequence[Figure], better: Better) -> Change | None:
    """Return the last change, if it is not found without the last figure. A change that moves by fewer runs than a level has is the same."""
    newest = _levels(figures)
    if len(newest) < 2:
        return None
    begin, known = len(figures) - newest[-1].runs, len(figures) - 1
    for level in _levels(figures[:-1])[:0:-1]:
        known -= level.runs
        if abs(known - begin) < MIN_LEVEL:
            return None
    return _change(newest[-2], newest[-1], better)


def _series(rows: Iterable[Row], better: Better, names: Mapping[str, Sequence[str]]) -> Iterable[Series]:
    for (environment, parameters, method), figures in _alike(rows).items():
        levels_of_series = _levels(figures)
        yield Series(
            environment_hash=environment,
            parameters_hash=parameters,
            method_version=method,
            runs=len(figures),
            levels=levels_of_series,
            changes=[_change(*pair, better) for pair in pairwise(levels_of_series)],
            baselines={name: figure for figure in figures for name in names.get(figure.run_id, ())},
        )


def _alike(rows: Iterable[Row]) -> dict[tuple[Any, ...], list[Figure]]:
    """Return the figures of the runs of each series, oldest first, by the series' ALIKE columns."""
    alike: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    for row in sorted(rows, key=lambda row: row["recorded_at"]):
        if counts(row) and row["environment_hash"] and row["value"] is not None:
            runs = alike.setdefault(tuple(row[name] for name in ALIKE), {})
            runs.setdefault(row["run_id"], []).append(row)
    return {
        names: [_figure(run_id, of_run) for run_id, of_run in runs.items()] for names, runs in alike.items()
    }


def _figure(run_id: str, rows: Sequence[Row]) -> Figure:
    return Figure(run_id, rows[0]["recorded_at"], tuple(row["value"] for row in rows))


def _levels(figures: Sequence[Figure]) -> list[Level]:
    medians_of_levels = levels([figure.median for figure in figures])
    place = len(figures) - sum(map(len, medians_of_levels))  # the oldest runs of a long history have no level
    result = []
    for medians in medians_of_levels:
        of_level = figures[place : place + len(medians)]
        values = [value for figure in of_level for value in figure.values]
        result.append(Level(of_level[0], of_level[-1], len(medians), summarize(values).median))
        place += len(medians)
    return result


def _change(before: Level, after: Level, better: Better) -> Change:
    higher, lower = LABELS[better]
    ratio = after.median / before.median if min(before.median, after.median) > 0 else None
    return Change(before, after, ratio, higher if after.median > before.median else lower)
