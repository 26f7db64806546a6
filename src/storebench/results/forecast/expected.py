"""Estimate the duration of a run from earlier attempts."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from storebench.results.database.connection import Row
from storebench.results.database.queries import Queries
from storebench.results.forecast.fixed import growth
from storebench.study.cell import Cell
from storebench.study.order import Turn
from storebench.study.planned import PlannedStudy
from storebench.study.run_params import CellParams, study_values

# A guess without measurements: the rate of most table stores on a slow machine with two cores.
ROWS_PER_S = 5_000
MIN_GROWTH = 1.25  # the least ratio of two sizes' times for a fit: times of equal pods differ by less
BETWEEN_S = 20.0  # seconds between the end of an operation's pod and the start of the next pod


@dataclass(frozen=True)
class Expected:
    """The number of operations of a run, their estimated seconds, and the number of operations without any measurement (`unknown`).

    `most_s` exceeds `seconds` if only a range is known: some operations were only measured with other numbers of rows.
    """

    operations: int
    seconds: float
    most_s: float
    unknown: int

    def __str__(self) -> str:
        text = f"Operations: {self.operations:,}. They take about {range_of(format_duration, self.seconds, self.most_s)}"
        if self.unknown == self.operations:
            return f"{text}. That is a guess, of {ROWS_PER_S:,} rows a second: nothing like them was measured here before"
        text += ", as in earlier runs here"
        if self.most_s > self.seconds:
            text += ". It is a range where those had other numbers of rows: how much of their time grows with the rows is not known"
        if self.unknown:
            text += (
                f". For {self.unknown:,} of them, which are like none before, this is a guess, of"
                f" {ROWS_PER_S:,} rows a second"
            )
        return text


def expected(queries: Queries, study: PlannedStudy, turns: Sequence[Turn], params: CellParams) -> Expected:
    """Estimate the time of a study's turns in a run. Raises SpecError if the parameters contradict each other."""
    return Pace(queries, study, {turn.cell.store for turn in turns}, params).expected(turns)


class Pace:
    """The measured durations of a study's operations at some stores."""

    def __init__(
        self, queries: Queries, study: PlannedStudy, names: Iterable[str], params: CellParams
    ) -> None:
        names = sorted(names)
        self._study = study
        values = study_values(params)
        self._params = {name: str(values[name]) for name in study.study_params}
        self._operations_of = {
            name: [operation.name for operation in study.operations_of(name)] for name in names
        }
        tried = [operation.name for operation in study.operations]
        self._durations = _Durations(queries.durations(study.name, list(self._operations_of), tried))
        between_s = queries.seconds_between(study.name)
        self._between_s = BETWEEN_S if between_s is None else max(0.0, between_s)

    def expected(self, turns: Sequence[Turn]) -> Expected:
        """Estimate the time of turns. Node pools work side by side: the slowest pool counts."""
        least_s: dict[str, float] = defaultdict(float)
        most_s: dict[str, float] = defaultdict(float)
        operations = unknown = 0
        for turn in turns:
            for operation in self._operations_of[turn.cell.store]:
                bounds = self._durations.between(turn.cell, operation)
                operations += 1
                unknown += bounds is None
                lasts_s = self._lasts_s(turn.cell, operation)
                least, most = bounds or (turn.cell.rows / ROWS_PER_S,) * 2
                least_s[turn.node_pool] += self._between_s + max(least, lasts_s)
                most_s[turn.node_pool] += self._between_s + max(most, lasts_s)
        return Expected(
            operations, max(least_s.values(), default=0.0), max(most_s.values(), default=0.0), unknown
        )

    def _lasts_s(self, cell: Cell, operation: str) -> float:
        """Return the seconds that the operation lasts at least, by its parameters."""
        return self._study.least_s(cell.store, operation, {**self._params, **dict(cell.axes)})


def assumed_s(study: PlannedStudy, cells: Iterable[Cell]) -> float:
    """Estimate the seconds of one measurement of these cells without earlier measurements."""
    return sum(BETWEEN_S + cell.rows / ROWS_PER_S for cell in cells for _ in study.operations_of(cell.store))


def format_duration(seconds: float) -> str:
    """Format a duration: `12 min`, `1 h 5 min`."""
    minutes = max(1, math.ceil(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def range_of(text_of: Callable[[float], str], least_s: float, most_s: float | None) -> str:
    """Format a range of seconds as both ends, or as one end if both texts are equal or `most_s` is None."""
    texts = dict.fromkeys([text_of(least_s), text_of(least_s if most_s is None else most_s)])
    return " to ".join(texts)


@dataclass(frozen=True)
class _Duration:
    """Seconds of operations on one number of rows, and the part of them that may grow with the rows."""

    seconds: float
    growing_s: float


class _Durations:
    """Durations of operations: of the same cell, else of the same axis values with other rows, else of the same client."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._of_cells: dict[tuple[str, str], float] = {}
        by_likes: dict[tuple[object, ...], dict[int, list[_Duration]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for row in rows:
            self._of_cells[row["cell_key"], row["operation"]] = row["seconds"]
            # without recorded phases, all seconds may grow with the rows
            duration = _Duration(
                row["seconds"], row["seconds"] if row["growing_s"] is None else row["growing_s"]
            )
            cell = Cell.from_key(row["cell_key"])
            for like in _likes(cell, row["operation"]):
                by_likes[like][cell.rows].append(duration)
        self._of_likes = {
            like: {
                rows: _Duration(
                    statistics.median(duration.seconds for duration in durations),
                    statistics.median(duration.growing_s for duration in durations),
                )
                for rows, durations in by_rows.items()
            }
            for like, by_rows in by_likes.items()
        }

    def between(self, cell: Cell, operation: str) -> tuple[float, float] | None:
        """Return bounds of an operation's seconds, equal if the duration is known; None without similar measurements."""
        if (exact := self._of_cells.get((cell.key, operation))) is not None:
            return exact, exact
        known = [by_rows for like in _likes(cell, operation) if (by_rows := self._of_likes.get(like))]
        for by_rows in known:
            if cell.rows in by_rows:
                return (by_rows[cell.rows].seconds,) * 2
        for by_rows in known:
            if (fitted := _fitted(by_rows, cell.rows)) is not None:
                return fitted, fitted
        if not known:
            return None
        nearest = min(known[0], key=lambda rows: abs(math.log(rows / cell.rows)))
        duration = known[0][nearest]
        # the bounds: no part scales with the rows, or every part that may scale does
        ends = duration.seconds, duration.seconds + duration.growing_s * (cell.rows / nearest - 1)
        return min(ends), max(ends)


def _likes(cell: Cell, operation: str) -> list[tuple[object, ...]]:
    """Return the keys of similar operations: first at the cell's axis values, then of the same client."""
    return [(cell.store, cell.client, operation, cell.axes), (cell.store, cell.client, operation)]


def _fitted(by_rows: Mapping[int, _Duration], rows: int) -> float | None:
    """Return the seconds for `rows` from two measured numbers of rows; None without two, or if their growth is within noise."""
    seconds = {size: duration.seconds for size, duration in by_rows.items()}
    fit = growth(seconds, rows)
    if fit is None or seconds[fit.high] < MIN_GROWTH * seconds[fit.low]:
        return None
    return fit.at(rows)
