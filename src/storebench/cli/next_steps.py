"""Suggest commands to type after a run: to see details, to repeat the run with intervals, to compare."""

from __future__ import annotations

import itertools
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storebench.cli.environment import command, env_file
from storebench.errors import SpecError
from storebench.results.comparison.sides import By
from storebench.results.database.runs import LATEST
from storebench.results.statistics.intervals import MIN_VALUES
from storebench.results.statistics.verdicts import MIN_UNITS
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.reserved import CLIENT, STORE

# The variable that `make run` sets, so that the suggested commands are targets of the Makefile, too.
BY_MAKE = "STOREBENCH_BY_MAKE"


class Typed:
    """The commands about a run, as the user types them: in the shell, or as targets of the Makefile. `run`: the name of the run."""

    def __init__(self, run: str) -> None:
        self._run = run
        self.by_make = bool(os.environ.get(BY_MAKE))

    def results(self) -> str:
        return self._make("results") if self.by_make else f"{command()} results --run {self._run}"

    def ranking(self) -> str:
        return self._make("ranking") if self.by_make else f"{command()} ranking {self._run}"

    def report(self) -> str:
        return (
            self._make("report", "OUT=DIR") if self.by_make else f"{command()} report {self._run} --out DIR"
        )

    def replay(self, repeats: int | None = None) -> str:
        """Return the command that starts the run once more, with another number of repeats if given."""
        if self.by_make:
            return self._make("replay", *([f"REPEATS={repeats}"] if repeats else []))
        option = f" --repeats {repeats}" if repeats else ""
        return f"{command()} replay {self._run}{option} --follow"

    def compare(self, by: str) -> str:
        """Return the command that compares two values within the run."""
        quoted = shlex.quote(by)
        return (
            self._make("compare", f"BY={quoted}")
            if self.by_make
            else f"{command()} compare {self._run} --by {quoted}"
        )

    def compare_with(self, other: str) -> str:
        """Return the command that compares the run with another run."""
        return (
            self._make("compare", f"WITH={other}")
            if self.by_make
            else f"{command()} compare {self._run} {other}"
        )

    def _make(self, target: str, *variables: str) -> str:
        run = [f"RUN={self._run}"] if self._run != LATEST else []
        return " ".join(["make", target, *run, *variables])


def next_lines(
    run: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    study: Study | None,
    url: str,
    name: str = LATEST,
) -> list[str]:
    """Return the lines to print after a run. `rows`: the newest tries of its operations. `study`: None if its file is absent. `name`: the
    shortest name of the run.
    """
    typed, newest = Typed(name), Typed(LATEST)
    cells = list(dict.fromkeys(Cell.from_key(row["cell_key"]) for row in rows))
    counted = Counter((row["cell_key"], row["operation"]) for row in rows if row["status"] == "verified")
    repeats = max(counted.values(), default=0)
    suggestions = [
        (typed.results(), "each attempt, with memory and CPU"),
        (typed.report(), "charts, as one HTML file"),
        (f"{url}/plugin/storebench-run", "the same, live"),
    ]
    by = by_of(cells, study)
    if 0 < repeats < MIN_VALUES and study:
        suggestions.append((typed.replay(MIN_VALUES), "the same with intervals"))
        if by:
            suggestions.append((newest.compare(by), "after that: which is better"))
    elif repeats >= MIN_UNITS:
        if by:
            suggestions.append((typed.compare(by), "which is better"))
        suggestions.append((typed.replay(), "the same run once more"))
        suggestions.append((Typed(run["airflow_run_id"]).compare_with(LATEST), "after that: what differs"))
    needs_file = not typed.by_make and env_file().exists()
    first = [f"  . {env_file()}   # first, in another shell"] if needs_file else []
    return ["Next:", *first, *(f"  {text}   # {purpose}" for text, purpose in suggestions)]


def by_of(cells: Sequence[Cell], study: Study | None) -> str | None:
    """Return two values to compare, such as `store=A,B`: two cells of the run differ only in these values. None without such cells.

    Stores are preferred, then clients, then values on an axis. A store that only shows the client's limit comes last.
    """
    keys = {cell.key for cell in cells}
    for place, values in _places(cells, study):
        for before, after in itertools.combinations(values, 2):
            by = By(place, before, after, study)
            if any(by.in_before(cell.key) in keys for cell in cells if by.value(cell.key) == after):
                return f"{place}={before},{after}"
    return None


def _places(cells: Sequence[Cell], study: Study | None) -> Iterator[tuple[str, list[str]]]:
    def only_limit(store: str) -> bool:
        try:
            return study is not None and study.store(store).floor
        except SpecError:
            return False

    stores = list(dict.fromkeys(cell.store for cell in cells))
    yield STORE, sorted(stores, key=only_limit)
    yield CLIENT, list(dict.fromkeys(cell.client for cell in cells))
    axes = [study.values_of(cell) if study else dict(cell.axes) for cell in cells]
    for axis in dict.fromkeys(name for values in axes for name in values):
        yield axis, list(dict.fromkeys(values[axis] for values in axes if axis in values))
