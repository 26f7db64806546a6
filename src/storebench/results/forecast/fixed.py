"""Split times into a fixed part, which does not grow with the rows, and a part per row.

Measurements with several numbers of rows show the fixed part, or the second pass of an operation: neither needs extra measurements
in the timed window.
"""

from __future__ import annotations

import math
import statistics
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storebench.results.database.connection import Row
from storebench.results.database.queries import BARRIER, GROWING, OPERATION, VERIFY, Queries, counts
from storebench.study.cell import Cell


@dataclass(frozen=True)
class Growth:
    """The parts of a time in seconds, never negative. `low`, `high`: the measured numbers of rows."""

    fixed_s: float
    for_a_row_s: float
    low: int
    high: int

    def at(self, rows: int) -> float:
        """Return the seconds for a number of rows."""
        return self.fixed_s + self.for_a_row_s * rows


def growth(seconds: Mapping[int, float], rows: int) -> Growth | None:
    """Return the growth of a time, from the two numbers of rows around `rows`, or else the smallest and largest; None without two."""
    if len(seconds) < 2:
        return None
    below, above = (sorted(size for size in seconds if (size < rows) == side) for side in (True, False))
    low, high = (below[-1], above[0]) if below and above else (min(seconds), max(seconds))
    for_a_row_s = max(0.0, (seconds[high] - seconds[low]) / (high - low))
    fixed_s = seconds[low] - for_a_row_s * low
    if fixed_s < 0:  # the time grows faster than the rows
        return Growth(0.0, seconds[high] / high, low, high)
    return Growth(fixed_s, for_a_row_s, low, high)


SPREAD = 4  # the least ratio of numbers of rows that shows the fixed part in spite of noise
ROUNDED = 0.01  # the share by which a metric may differ from the time of its phases


@dataclass(frozen=True)
class Fixed:
    """The fixed seconds of a cell's operation, as medians of its attempts. `start_s`: the pod's start and end. `fixed_s`: the estimated
    fixed part of the operation; None if unknown.
    """

    start_s: float
    fixed_s: float | None


FixedParts = Mapping[tuple[str, str], Fixed]  # by the cell's key and the operation
Phases = Mapping[str, float]  # seconds by name


@dataclass(frozen=True)
class _Try:
    """An attempt whose operation is ranked by its duration, and its phases."""

    row: Row
    phases: Phases


def fixed_of(queries: Queries, rows: Sequence[Row]) -> FixedParts:
    """Return the fixed parts of the attempts' operations that are ranked by their duration.

    An operation that delivers the dataset is verified by a second pass: the same call in the same session, for all fields. So the excess of
    the first pass over the second is fixed. For any operation, attempts of the same cell with other numbers of rows show the fixed part.
    """
    tries: dict[tuple[str, str], list[_Try]] = defaultdict(list)
    for attempt in _timed(queries, [row for row in rows if counts(row)]):
        tries[attempt.row["cell_key"], attempt.row["operation"]].append(attempt)
    sizes = _sizes(queries, sorted({key for key, _ in tries}))
    parts = {}
    for (key, operation), of_cell in tries.items():
        estimates_s = [_by_second_pass(of_cell)]
        estimates_s.append(
            _by_sizes(sizes[key, operation, of_cell[0].row["metric"]], Cell.from_key(key).rows)
        )
        parts[key, operation] = Fixed(
            statistics.median(map(_start_s, of_cell)),
            max((part_s for part_s in estimates_s if part_s is not None), default=None),
        )
    return parts


def _timed(queries: Queries, rows: Sequence[Row]) -> list[_Try]:
    phases: dict[uuid.UUID, dict[str, float]] = defaultdict(dict)
    for phase in queries.phases([row["attempt_id"] for row in rows]):
        phases[phase["attempt_id"]][phase["name"]] = phase["seconds"]
    tries = [_Try(row, phases[row["attempt_id"]]) for row in rows if row["unit"] == "s" and row["value"]]
    return [
        attempt
        for attempt in tries
        if any(_is_close(attempt.row["value"], time_s) for time_s in _times_s(attempt.phases))
    ]


def _times_s(phases: Phases) -> tuple[float, ...]:
    """Return the times that may rank an operation: of the operation alone, and with its barrier."""
    if OPERATION not in phases:
        return ()
    return phases[OPERATION], phases[OPERATION] + phases.get(BARRIER, 0.0)


def _is_close(value: float, time_s: float) -> bool:
    return math.isclose(value, time_s, rel_tol=ROUNDED)


def _start_s(attempt: _Try) -> float:
    """Return the seconds of an attempt without its work on rows: imports, connection, end."""
    return max(0.0, float(attempt.row["total_s"] - sum(attempt.phases.get(name, 0.0) for name in GROWING)))


def _by_second_pass(tries: Sequence[_Try]) -> float | None:
    longer = [
        attempt.phases[OPERATION] - attempt.phases[VERIFY]
        for attempt in tries
        if attempt.row["delivers"] and VERIFY in attempt.phases
    ]
    return max(0.0, statistics.median(longer)) if longer else None


def _by_sizes(by_rows: Mapping[int, float], rows: int) -> float | None:
    fit = growth(by_rows, rows)
    return fit.fixed_s if fit is not None and fit.high >= SPREAD * fit.low else None


def _sizes(queries: Queries, keys: Sequence[str]) -> dict[tuple[str, str, str], dict[int, float]]:
    """Return the seconds of cells' operations by number of rows, for each ranking metric."""
    sizes: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    for row in queries.seconds_by_rows(keys):
        sizes[row["cell_key"], row["operation"], row["metric"]][row["rows"]] = row["seconds"]
    return sizes
