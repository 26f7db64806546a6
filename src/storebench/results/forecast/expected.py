"""Estimate the duration of a run: from earlier attempts, else from the typical times that its stores declare, else by a guess."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from storebench.results.database.connection import Row
from storebench.results.database.queries import Queries
from storebench.results.forecast.calibration import slowness
from storebench.results.forecast.fixed import growth
from storebench.stores.base import TypicalTime
from storebench.study.cell import Cell
from storebench.study.order import Turn
from storebench.study.planned import PlannedStudy
from storebench.study.run_params import CellParams, study_values

# A guess without measurements and typical times: the rate of most table stores on a slow machine with two cores.
ROWS_PER_S = 5_000
MIN_GROWTH = 1.25  # the least ratio of two sizes' times for a fit: times of equal pods differ by less
BETWEEN_S = 6.0  # seconds between the end of an operation's pod and the start of the next pod: the median of all runs of the usual machine
SMALLEST = 10  # attempts with fewer rows than one in SMALLEST of a run's rows do not estimate the run


@dataclass(frozen=True)
class Expected:
    """The number of operations of a run, and their estimated seconds.

    `typical`: the number of operations without a similar attempt that have a typical time. `unknown`: the number of operations with
    neither, whose time is a guess.
    """

    operations: int
    seconds: float
    typical: int = 0
    unknown: int = 0

    @property
    def most_s(self) -> float:
        """Return the upper end of the estimate: the API also has the ranges that earlier versions recorded."""
        return self.seconds

    def __str__(self) -> str:
        text = f"Operations: {self.operations:,}. They take about {duration_text(self.seconds, rounded=True)}"
        measured = self.operations - self.typical - self.unknown
        sources = [
            (measured, "as in earlier runs here"),
            (self.typical, "by the typical times of their stores"),
            (self.unknown, f"by a guess of {ROWS_PER_S:,} rows per second"),
        ]
        named = [(count, source) for count, source in sources if count]
        if len(named) == 1:
            return f"{text}, {named[0][1]}"
        return text + "".join(f"; {count:,} of them {source}" for count, source in named)


def expected(queries: Queries, study: PlannedStudy, turns: Sequence[Turn], params: CellParams) -> Expected:
    """Estimate the time of a study's turns in a run. Raises SpecError if the parameters contradict each other."""
    return Pace(queries, study, {turn.cell.store for turn in turns}, params).expected(turns)


class Pace:
    """The measured and typical durations of a study's operations at some stores."""

    def __init__(
        self, queries: Queries, study: PlannedStudy, names: Iterable[str], params: CellParams
    ) -> None:
        names = sorted(names)
        self._study = study
        values = study_values(params)
        self._params = {name: str(values[name]) for name in study.study_params}
        tried = [operation.name for operation in study.operations]
        self._durations = _Durations(queries.durations(study.name, names, tried))
        between_s = queries.seconds_between(study.name)
        self._between_s = BETWEEN_S if between_s is None else max(0.0, between_s)

    def expected(self, turns: Sequence[Turn]) -> Expected:
        """Estimate the time of turns. Node pools work side by side: the slowest pool counts."""
        seconds: dict[str, float] = defaultdict(float)
        operations = typical = unknown = 0
        for turn in turns:
            cell = turn.cell
            for operation in (planned.name for planned in self._study.operations_in(cell)):
                operations += 1
                lasts_s = self._lasts_s(cell, operation)
                measured_s = self._durations.seconds(cell, operation)
                usual = self._study.typical_of(cell.store, operation, cell.client)
                if measured_s is not None:
                    seconds[turn.node_pool] += self._between_s + max(measured_s, lasts_s)
                elif usual is not None:
                    typical += 1
                    seconds[turn.node_pool] += _typical_s(usual, cell, slowness(), lasts_s)
                else:
                    unknown += 1
                    seconds[turn.node_pool] += self._between_s + max(cell.rows / ROWS_PER_S, lasts_s)
        return Expected(operations, max(seconds.values(), default=0.0), typical, unknown)

    def _lasts_s(self, cell: Cell, operation: str) -> float:
        """Return the seconds that the operation lasts at least, by its parameters."""
        return self._study.least_s(cell.store, operation, {**self._params, **dict(cell.axes)})


def _typical_s(usual: TypicalTime, cell: Cell, slow: float, lasts_s: float = 0.0) -> float:
    """Return the typical seconds of a cell's operation, on a machine that takes `slow` times as long as the usual machine."""
    return slow * usual.fixed_s + max(slow * usual.growing_s(cell.rows, dict(cell.axes)), lasts_s)


def assumed_s(study: PlannedStudy, cells: Iterable[Cell]) -> float:
    """Estimate the seconds of one measurement of these cells on the usual machine, without earlier measurements."""
    seconds = 0.0
    for cell in cells:
        for operation in study.operations_in(cell):
            usual = study.typical_of(cell.store, operation.name, cell.client)
            seconds += _typical_s(usual, cell, 1.0) if usual else BETWEEN_S + cell.rows / ROWS_PER_S
    return seconds


def duration_text(seconds: float, *, rounded: bool = False) -> str:
    """Format a duration: `48 s`, `3 min 5 s`, `2 h 10 min`. `rounded`: as an estimate, which is not exact: `50 s`, `3 min`, `2 h 10 min`, `12 h`."""
    step = _rounding_s(seconds) if rounded else 1 if seconds < 3600 else 60
    total = max(step if rounded else 0, step * round(seconds / step))
    hours, minutes, rest = total // 3600, total % 3600 // 60, total % 60
    parts = [(f"{hours:,} h", hours), (f"{minutes} min", minutes), (f"{rest} s", rest)]
    return " ".join(text for text, amount in parts if amount) or "0 s"


def _rounding_s(seconds: float) -> int:
    """Return the seconds to a multiple of which an estimate is rounded."""
    if seconds < 55:
        return 10
    if seconds < 59.5 * 60:
        return 60
    return 300 if seconds < 10 * 3600 - 150 else 3600


@dataclass(frozen=True)
class _Duration:
    """Seconds of operations on one number of rows, and the part of them that may grow with the rows."""

    seconds: float
    growing_s: float


class _Durations:
    """Durations of operations: of the same cell, else of the same axis values with other rows, else of the same client.

    Attempts with less than a tenth of a cell's rows are ignored (SMALLEST): fixed costs, which they mostly show, would be scaled with the
    rows.
    """

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

    def seconds(self, cell: Cell, operation: str) -> float | None:
        """Return the seconds of an operation; None without attempts of a similar size.

        Two numbers of rows show how the time grows. With one number of rows, the phases that may grow with the rows do so.
        """
        if (exact := self._of_cells.get((cell.key, operation))) is not None:
            return exact
        known = [by_rows for like in _likes(cell, operation) if (by_rows := self._near(like, cell.rows))]
        for by_rows in known:
            if cell.rows in by_rows:
                return by_rows[cell.rows].seconds
        for by_rows in known:
            if (fitted := _fitted(by_rows, cell.rows)) is not None:
                return fitted
        if not known:
            return None
        nearest = min(known[0], key=lambda rows: abs(math.log(rows / cell.rows)))
        duration = known[0][nearest]
        return duration.seconds + duration.growing_s * (cell.rows / nearest - 1)

    def _near(self, like: tuple[object, ...], rows: int) -> Mapping[int, _Duration]:
        """Return the durations of similar operations by number of rows, without runs that are too small to show the time of `rows`."""
        of_like = self._of_likes.get(like, {})
        return {size: duration for size, duration in of_like.items() if size * SMALLEST >= rows}


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
