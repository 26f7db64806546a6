"""Update the rows of the view `summary`: statistics of each cell's verified and undisturbed repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from storebench.results.database.measurements import scalars_of, shown_of, value_of
from storebench.results.database.queries import counts
from storebench.results.database.repository import Repository
from storebench.results.statistics.intervals import summarize
from storebench.study.record import StudyRecord

Attempt = Mapping[str, Any]  # a row of the view `results`, whose columns are read by computed names
# A row of the summary combines the attempts that are equal in these columns, for one metric.
GROUP = ("cell_key", "operation", "environment_hash", "parameters_hash", "method_version")


def refresh(repository: Repository, keys: Sequence[str]) -> None:
    """Recompute the statistics of these cells for each operation, metric, environment, set of parameters and method version."""
    studies = repository.studies()
    groups: dict[tuple[Any, ...], list[Attempt]] = defaultdict(list)
    for row in repository.attempts_of_cells(keys):
        if counts(row):
            groups[_group(row)].append(row)
    statistics = [
        _statistic(metric, rows, values)
        for rows in groups.values()
        for metric in summarized(studies.get(rows[0]["study"]), rows)
        if (values := [value for row in rows if (value := value_of(row, metric)) is not None])
    ]
    repository.replace_statistics(keys, statistics)


def _group(row: Attempt) -> tuple[Any, ...]:
    """Return the values of an attempt in the columns GROUP."""
    return tuple(row[name] for name in GROUP)


def summarized(study: StudyRecord | None, rows: Sequence[Attempt]) -> list[str]:
    """Return the metrics to summarize for attempts at an operation: the ranking metric, the metrics of the study's charts and tables, and
    the metrics that ranked the attempts when they were recorded. Without a study, only the last.
    """
    ranked = {row["metric"] for row in rows if row["metric"]}
    if study is None:
        return sorted(ranked)
    operation = rows[0]["operation"]
    scalars = scalars_of(study, operation)
    shown = set(shown_of(study, operation))
    now = [name for place, name in enumerate(scalars) if place == 0 or name in shown]
    return [*now, *sorted(ranked.difference(now))]


def _statistic(metric: str, rows: Sequence[Attempt], values: Sequence[float]) -> dict[str, Any]:
    summary = summarize(values)
    return {
        **{name: rows[0][name] for name in GROUP},
        "parameters_hash": rows[0]["parameters_hash"]
        or "",  # attempts of earlier versions have no parameters
        "metric": metric,
        "n": summary.n,
        "median": summary.median,
        "min": summary.min,
        "max": summary.max,
        "first_quartile": summary.first_quartile,
        "third_quartile": summary.third_quartile,
        "interval_low": summary.interval.low if summary.interval else None,
        "interval_high": summary.interval.high if summary.interval else None,
        "interval_coverage": summary.interval.coverage if summary.interval else None,
        "figures_cover": rows[0]["figures_cover"],
    }
