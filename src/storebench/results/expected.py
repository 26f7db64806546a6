"""About how long a run will take here, by what earlier attempts took."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storebench import stores
from storebench.grid import Cell
from storebench.order import Turn
from storebench.results.database import Row
from storebench.results.queries import Queries

# Where nothing was measured yet: what most stores manage on a slow machine with two cores.
ROWS_PER_S = 5_000
BETWEEN_S = 20.0  # from the end of one operation's pod to the start of the next one's


@dataclass(frozen=True)
class Expected:
    """How many operations a run has, about how many seconds they take, and how many of them were never measured here."""

    operations: int
    seconds: float
    unknown: int

    def __str__(self) -> str:
        text = f"Operations: {self.operations:,}. They take about {in_words(self.seconds)}"
        if self.unknown == self.operations:
            return f"{text}, at {ROWS_PER_S:,} rows a second: nothing like them was measured here before"
        if self.unknown:
            return (
                f"{text}, as in earlier runs here. For {self.unknown:,} of them, which are like none before, this assumes"
                f" {ROWS_PER_S:,} rows a second"
            )
        return f"{text}, as in earlier runs here"


def expected(queries: Queries, study: str, turns: Sequence[Turn]) -> Expected:
    """What to expect of these turns of a study."""
    return Pace(queries, study, {turn.cell.store for turn in turns}).expected(turns)


class Pace:
    """How fast a study's operations at these stores are here, as it was measured so far."""

    def __init__(self, queries: Queries, study: str, names: Iterable[str]) -> None:
        self._operations_of = {name: stores.load(name).operations for name in sorted(names)}
        tried = sorted({operation for found in self._operations_of.values() for operation in found})
        self._durations = _Durations(queries.durations(study, list(self._operations_of), tried))
        between_s = queries.seconds_between(study)
        self._between_s = BETWEEN_S if between_s is None else max(0.0, between_s)

    def expected(self, turns: Sequence[Turn]) -> Expected:
        """What to expect of these turns. Pools of nodes work side by side: the slowest one counts."""
        seconds: dict[str, float] = defaultdict(float)
        operations = unknown = 0
        for turn in turns:
            for operation in self._operations_of[turn.cell.store]:
                found = self._durations.seconds(turn.cell, operation)
                operations += 1
                unknown += found is None
                took_s = turn.cell.rows / ROWS_PER_S if found is None else found
                seconds[turn.node_pool] += self._between_s + took_s
        return Expected(operations, max(seconds.values(), default=0.0), unknown)


def in_words(seconds: float) -> str:
    """A duration for people: `12 min`, `1 h 5 min`."""
    minutes = max(1, math.ceil(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class _Durations:
    """How long operations took: at the same cell, or else at the same store with the same client and the nearest number of rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._of_cells: dict[tuple[str, str], float] = {}
        self._of_clients: dict[tuple[str, str, str], dict[int, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for row in rows:
            self._of_cells[row["cell_key"], row["operation"]] = row["seconds"]
            of_client = self._of_clients[row["store"], row["client"], row["operation"]]
            of_client[row["rows"]].append(row["seconds"])

    def seconds(self, cell: Cell, operation: str) -> float | None:
        """None where nothing like it was measured. With other numbers of rows, the time is taken to grow with them."""
        if (exact := self._of_cells.get((cell.key, operation))) is not None:
            return exact
        by_rows = self._of_clients.get((cell.store, cell.client, operation))
        if not by_rows:
            return None
        nearest = min(by_rows, key=lambda rows: abs(math.log(rows / cell.rows)))
        return statistics.median(by_rows[nearest]) * cell.rows / nearest
