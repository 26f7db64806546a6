"""What a run's attempts say together: medians, intervals, and where the time went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from storebench.results.database import Row
from storebench.results.queries import counts
from storebench.results.statistics import summarize
from storebench.web.models import Attempt, CellFigures, CellPhases, Spread

NAME = ("cell_key", "store", "client", "batch_size", "executors", "rows", "seed")


def figures_of(rows: Iterable[Row]) -> list[CellFigures]:
    """The cells' operations, in the order of their first rows; `rows` are newest tries without warm-ups."""
    return [
        CellFigures(
            **{name: group[0][name] for name in NAME},
            operation=group[0]["operation"],
            attempts=[Attempt.model_validate(row) for row in group],
            only_s=_spread(group, lambda row: row["only_s"]),
            rows_per_s=_spread(group, lambda row: row["rows_per_s"]),
            total_s=_spread(group, lambda row: row["total_s"]),
            memory_bytes=_spread(group, lambda row: row["all_memory_working_set_peak_bytes"]),
        )
        for group in _grouped(rows)
    ]


def typical_of(rows: Iterable[Row]) -> list[Row]:
    """Of each cell's operation the verified, undisturbed attempt whose total is nearest to the median of them, or the last where none is."""
    found = []
    for group in _grouped(rows):
        counted = [row for row in group if counts(row) and row["total_s"] is not None]
        if counted:
            median = summarize([row["total_s"] for row in counted]).median_s
            found.append(min(counted, key=lambda row: abs(row["total_s"] - median)))
        else:
            found.append(group[-1])
    return found


def phases_of(typical: Sequence[Row], phases: Iterable[Row]) -> list[CellPhases]:
    """`phases` are these attempts'."""
    seconds: dict[object, dict[str, float]] = {row["attempt_id"]: {} for row in typical}
    for phase in phases:
        seconds[phase["attempt_id"]][phase["name"]] = phase["seconds"]
    return [
        CellPhases(
            **{name: row[name] for name in (*NAME, "operation")},
            attempt=Attempt.model_validate(row),
            phases=seconds[row["attempt_id"]],
        )
        for row in typical
    ]


def _grouped(rows: Iterable[Row]) -> list[list[Row]]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["cell_key"], row["operation"]), []).append(row)
    return list(groups.values())


def _spread(rows: Sequence[Row], of: Callable[[Row], float | None]) -> Spread | None:
    values = tuple(value for row in rows if counts(row) and (value := of(row)) is not None)
    return _spread_of(values) if values else None


@lru_cache(maxsize=4096)
def _spread_of(values: tuple[float, ...]) -> Spread:
    """A page that is watched asks for the same again and again."""
    found = summarize(values)
    interval = found.interval
    return Spread(
        n=found.n,
        median=found.median_s,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        coverage=interval.coverage if interval else None,
    )
