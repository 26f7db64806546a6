"""The grid: the valid combinations of the values of a study's axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storebench.errors import SpecError, quoted, unknown
from storebench.stores.base import split
from storebench.study.cell import Cell
from storebench.study.dataset import MAX_SEED
from storebench.study.model import Axis
from storebench.study.planned import PlannedStudy

MAX_ROWS = 1_000_000_000  # the limit for a study without a dataset
# Planning takes half a second for this number. A run has at most 10,000 turns (Airflow's max_map_length); most combinations become cells.
MOST_COMBINATIONS = 50_000

# Return the number of copies of the data that a store's servers hold at a cell's values of the axes; None: not known.
CopiesOf = Callable[[str, Mapping[str, str]], int | None]


@dataclass(frozen=True)
class Grid:
    """The cells of a run, and the number of combinations excluded because they repeat another cell."""

    cells: tuple[Cell, ...]
    dropped: int
    dropped_because: str = ""


def grid(
    study: PlannedStudy,
    *,
    stores: Sequence[str],
    clients: Sequence[str],
    axes: Mapping[str, Sequence[str]],
    rows: int,
    seed: int,
    full: bool = True,
    copies_of: CopiesOf = lambda store, axes: None,
) -> Grid:
    """Return a study's cells for these values, ordered by store, then client, then the axes, each in the given order.

    An axis that `axes` does not name takes its defaults. Without `full`, each cell of a store differs from the store's first cell in
    one place: the client or one axis. A value that means the same as another value is excluded (`Axis.whole`, `Axis.of_copies`).
    A cell does not name an axis at its implied value (`Axis.implied`).
    Raises SpecError for an invalid value before any other work.
    """
    for what, chosen, known in (("store", stores, study.store_names), ("client", clients, study.clients)):
        _check(what, chosen, known)
    check_integer("rows", rows, 1, max_rows(study))
    check_integer("seed", seed, 0, MAX_SEED)
    asked_on = [_values_on(axis, axes.get(axis.name, axis.default)) for axis in study.axes]
    stores, clients = list(dict.fromkeys(stores)), list(dict.fromkeys(clients))
    combinations = math.prod(map(len, (stores, clients, *asked_on)))
    if combinations > MOST_COMBINATIONS:
        raise SpecError(
            f"These values have {combinations:,} combinations, and a grid has {MOST_COMBINATIONS:,} at most. Ask for fewer values, or"
            " start several runs"
        )
    reasons = set()
    values = []
    for axis, column in zip(study.axes, asked_on, strict=True):
        repeated = axis.repeated(column, rows)
        reasons |= {repeats(axis, value, kept, rows) for value, kept in repeated.items()}
        values.append([value for value in column if value not in repeated])
    alike = {
        axis.name: axis.alike(column)
        for axis, column in zip(study.axes, values, strict=True)
        if axis.of_copies and len(column) > 1
    }
    implied = {axis.name: axis.implied for axis in study.axes if axis.implied}
    first = {axis.name: column[0] for axis, column in zip(study.axes, values, strict=True)}
    cells: dict[Cell, None] = {}
    for store, client in itertools.product(stores, clients):
        has = study.store(store).clients
        if client not in has:
            reasons.add(f"{store} has no client {quoted(client)}")
            continue
        other_client = client != next(name for name in clients if name in has)
        for combination in itertools.product(*values):
            meant = _meant(study, store, client, combination)
            same = alike if alike and copies_of(store, dict(meant)) == 1 else {}
            if same:
                reasons |= {
                    f"{store} has one copy of the data, so {name}={value} is the same as {name}={same[name]}"
                    for name, value in meant
                    if same.get(name, value) != value
                }
                meant = tuple((name, same.get(name, value)) for name, value in meant)
            if not full:
                differing = sum(value != same.get(name, first[name]) for name, value in meant)
                if differing + other_client > 1:
                    reasons.add("one thing is varied at a time")
                    continue
            named = tuple(pair for pair in meant if implied.get(pair[0]) != pair[1]) if implied else meant
            cell = Cell(study.name, store, client, named, rows, seed)
            if cell in cells and len(meant) < len(study.axes):
                applying = {name for name, _ in meant}
                ignored = [axis.name for axis in study.axes if axis.name not in applying]
                reasons.add(f"{store} has no {', '.join(ignored)}")
            cells[cell] = None
    if not cells:
        raise SpecError(f"No cell is left to run: {'; '.join(sorted(reasons))}")
    return Grid(tuple(cells), combinations - len(cells), "; ".join(sorted(reasons)))


def operation_count(study: PlannedStudy, cells: Iterable[Cell]) -> int:
    """Return the number of operations of these cells, each measured once."""
    return sum(len(study.operations_in(cell)) for cell in cells)


def repeats(axis: Axis, value: str, kept: str, rows: int) -> str:
    """Return the reason to exclude a value of an axis that means the same as the value `kept`."""
    return f"{axis.name}={value} is the same as {axis.name}={kept}, as the dataset has {rows:,} rows"


def max_rows(study: PlannedStudy) -> int:
    """Return the largest number of rows that a run of the study can ask for."""
    return study.dataset.max_rows if study.dataset else MAX_ROWS


def check_integer(name: str, value: Any, minimum: int, maximum: int) -> int:
    """Return `value`. Raises SpecError unless the value is an integer in the range."""
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise SpecError(f"{name} must be a whole number from {minimum:,} to {maximum:,}, not {quoted(value)}")
    return value


def _meant(
    study: PlannedStudy, store: str, client: str, combination: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs of axis and value that apply to a store and a client. `combination`: a value of each axis."""
    applying: dict[str, str] = {}
    for axis, value in zip(study.axes, combination, strict=True):
        if axis.means_something(store, client, applying):
            applying[axis.name] = value
    return tuple(applying.items())


def _check(what: str, chosen: Sequence[str], known: Collection[str]) -> None:
    if not chosen:
        raise SpecError(f"Choose at least one {what}: {', '.join(known)}")
    for name in chosen:
        if name not in known and (what == "client" or split(name)[0] not in known):
            raise unknown(what, name, known)


def _values_on(axis: Axis, values: Sequence[str]) -> list[str]:
    if not values:
        raise SpecError(f"{axis.title}: give at least one value")
    return list(dict.fromkeys(axis.check(str(value)) for value in values))
