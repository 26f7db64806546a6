"""Build the answers about a run's attempts: medians, intervals, origins, and phases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from storebench.answers.attempts import Attempt, CellFigures, CellPhases, Machine, Origin, Spread, Used
from storebench.answers.studies import Study
from storebench.results.database.connection import Row
from storebench.results.database.measurements import metrics_of, scalars_of, value_of
from storebench.results.database.queries import Queries, counts
from storebench.results.database.rows import AttemptRow
from storebench.results.forecast.price import Hours, hours
from storebench.results.statistics.intervals import Summary, summarize
from storebench.study.cell import Cell
from storebench.study.model import COMMON, Metric

Attempts = TypeVar("Attempts", bound=Mapping[str, Any])  # rows with cell_key and operation
_STATED = itemgetter("server_name", "server_version", "durability", "environment_hash", "code_version")


def named(cell_key: str, axes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the fields of CellName for a cell's key.

    `axes`: the cell's values from `Planning.values_of`; None: only the values that the key names.
    """
    cell = Cell.from_key(cell_key)
    return {
        "cell_key": cell_key,
        "study": cell.study,
        "store": cell.store,
        "client": cell.client,
        "axes": dict(cell.axes if axes is None else axes),
        "rows": cell.rows,
        "seed": cell.seed,
    }


def study_answer(queries: Queries, name: str) -> Study:
    """Return the API's answer about a study. Raises SpecError for a study without a record, and for a record that this version cannot
    read."""
    return Study(**dict(queries.study(name)))


def scalar_metrics(queries: Queries, operations: Iterable[tuple[str, str]]) -> list[Metric]:
    """Return the scalar metrics that any of these operations reports, each once. `operations`: pairs of study and operation."""
    metrics: dict[str, Metric] = {}
    for study, of_study in groupby(sorted(operations), itemgetter(0)):
        record = queries.study(study)
        known, reported = metrics_of(record), {operation for _, operation in of_study}
        for operation in record.operations:
            if operation.name in reported:
                metrics |= {name: known[name] for name in scalars_of(record, operation.name)}
    common = [metric for metric in COMMON if metric.name in metrics]
    return [*(metric for metric in metrics.values() if metric not in common), *common]


def figures_answer(rows: Iterable[AttemptRow]) -> list[CellFigures]:
    """Summarize each cell's operation, in the order of first rows. `rows` are newest tries without warm-ups."""
    rows = list(rows)
    used = {(used_hours.cell_key, used_hours.operation): used_hours for used_hours in hours(rows)}
    return [
        CellFigures(
            **named(group[0]["cell_key"], group[0].get("axes")),
            operation=group[0]["operation"],
            attempts=[Attempt.model_validate(row) for row in group],
            figures=_spreads(group),
            used=_used(used[group[0]["cell_key"], group[0]["operation"]]),
        )
        for group in grouped(rows)
    ]


def _used(used: Hours) -> Used | None:
    if used.cpu_hours is None or used.memory_gib_hours is None:
        return None
    return Used(n=used.n, cpu_hours=used.cpu_hours, memory_gib_hours=used.memory_gib_hours)


def typical_of(rows: Iterable[AttemptRow]) -> list[AttemptRow]:
    """Return the typical attempt of each cell's operation: of the verified, undisturbed attempts, the attempt nearest to the median total.

    Without such an attempt, the last attempt is the typical attempt.
    """
    typical = []
    for group in grouped(rows):
        timed = [(total, row) for row in group if counts(row) and (total := row["total_s"]) is not None]
        if timed:
            median = summarize([total for total, _ in timed]).median
            _, nearest = min(timed, key=lambda attempt: abs(attempt[0] - median))
            typical.append(nearest)
        else:
            typical.append(group[-1])
    return typical


class Origins:
    """The origins of attempts' figures. `machines` are the machines of the environments, by hash.

    The many cells of a run have few origins: each origin is built once.
    """

    def __init__(self, machines: Mapping[str, Row]) -> None:
        self._machines = {name: Machine.model_validate(machine) for name, machine in machines.items()}
        self._made: dict[tuple[Any, ...], Origin] = {}

    def of(self, rows: Iterable[Row]) -> Origin:
        """Return the origin of attempts."""
        key = tuple(dict.fromkeys((*_STATED(row), row["recorded_at"].astimezone(UTC).date()) for row in rows))
        if key not in self._made:
            self._made[key] = self._origin(key)
        return self._made[key]

    def _origin(self, key: tuple[Any, ...]) -> Origin:
        names, versions, durability, environments, codes, dates = zip(*key, strict=True) if key else ((),) * 6
        machines = [
            self._machines[environment]
            for environment in dict.fromkeys(environments)
            if environment in self._machines
        ]
        return Origin(
            servers=_each(" ".join(filter(None, pair)) for pair in zip(names, versions, strict=True)),
            durability=_each(durability),
            machines=[machine for n, machine in enumerate(machines) if machines.index(machine) == n],
            code_versions=_each(codes),
            dates=sorted(set(dates)),
        )


def _each(texts: Iterable[str | None]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text]


def phases_answer(typical: Sequence[AttemptRow], phases: Iterable[Row]) -> list[CellPhases]:
    """Build the phases of typical attempts. `phases`: the rows of these attempts' phases."""
    seconds: dict[object, dict[str, float]] = {row["attempt_id"]: {} for row in typical}
    for phase in phases:
        seconds[phase["attempt_id"]][phase["name"]] = phase["seconds"]
    return [
        CellPhases(
            **named(row["cell_key"], row.get("axes")),
            operation=row["operation"],
            attempt=Attempt.model_validate(row),
            phases=seconds[row["attempt_id"]],
        )
        for row in typical
    ]


def grouped(rows: Iterable[Attempts]) -> list[list[Attempts]]:
    """Group attempts by cell and operation, in the order of each group's first attempt."""
    groups: dict[tuple[str, str], list[Attempts]] = {}
    for row in rows:
        groups.setdefault((row["cell_key"], row["operation"]), []).append(row)
    return list(groups.values())


def _spreads(rows: Sequence[AttemptRow]) -> dict[str, Spread]:
    """Return the spread of each metric of the counted attempts, in the attempts' order of metrics."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if counts(row):
            for name in (*row["metrics"], *(metric.name for metric in COMMON)):
                value = value_of(row, name)
                if value is not None:
                    values.setdefault(name, []).append(value)
    return {name: _spread_of(tuple(figures)) for name, figures in values.items()}


@lru_cache(maxsize=4096)
def _spread_of(values: tuple[float, ...]) -> Spread:
    """Cache spreads: an open page requests the same figures repeatedly."""
    return spread_of(summarize(values))


def spread_of(summary: Summary) -> Spread:
    """Convert a summary to the API's model."""
    interval = summary.interval
    return Spread(
        n=summary.n,
        median=summary.median,
        interval_low=interval.low if interval else None,
        interval_high=interval.high if interval else None,
        interval_coverage=interval.coverage if interval else None,
    )
