"""Choose the cells to rank: a dataset, and values on the axes. The defaults are the values at which most cells were measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from storebench.errors import SpecError, unknown
from storebench.results.statistics.verdicts import MARGIN
from storebench.study.cell import Cell
from storebench.study.model import Axis
from storebench.study.record import StudyRecord
from storebench.study.reserved import CLIENT, STORE

ANY = "*"  # as a value of an axis: any value

Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True)
class Question:
    """The requested ranking. None, or an axis without a value, means the value at which most cells were measured.

    `conditions`: an id from `storebench.results.runs.conditions.id_of`. `guarantee`: a delivery or durability; None ranks all. `included`: reasons for
    exclusion to ignore. `alike`: exclude cells that are bound by a client or a service, and cells with another guarantee than most. `margin`: a share; a smaller difference counts as equal.
    `run`: the ID of the run whose attempts alone are ranked; None for the attempts of all runs.
    """

    study: str
    operation: str | None = None
    metric: str | None = None  # None: the metric that ranks the operation
    rows: int | None = None
    seed: int | None = None
    axes: Mapping[str, str] = field(default_factory=dict)
    conditions: str | None = None
    guarantee: str | None = None
    included: frozenset[str] = frozenset()
    alike: bool = False
    margin: float = MARGIN
    run: str | None = None


@dataclass(frozen=True)
class Known:
    """A cell of a recorded run. `measured`: whether any attempt was measured."""

    cell: Cell
    measured: bool


@dataclass(frozen=True)
class Chosen:
    """The chosen cells to rank, and the alternatives.

    `axes`: the value of each axis that applies; ANY if the cells may differ. `offered`: for each axis, the sorted values of the cells that
    have the chosen values on earlier axes.
    """

    rows: int
    seed: int
    datasets: Sequence[tuple[int, int]]  # rows and seed, the largest first
    axes: Mapping[str, str]
    offered: Mapping[str, Sequence[str]]
    cells: Sequence[Cell]


def choose(study: StudyRecord, known: Sequence[Known], asked: Question) -> Chosen:
    """Choose the cells of a question. Raises SpecError without such cells, and for an unknown axis."""
    if not known:
        raise SpecError(f"There are no results of the study {study.name} yet")
    names = [axis.name for axis in study.axes]
    for name in asked.axes:
        if name not in names:
            raise unknown("axis", name, names)
    datasets = sorted({(candidate.cell.rows, candidate.cell.seed) for candidate in known}, reverse=True)
    candidates = [
        candidate
        for candidate in known
        if asked.rows in (None, candidate.cell.rows) and asked.seed in (None, candidate.cell.seed)
    ]
    if not candidates:
        raise SpecError(
            f"Nothing of the study {study.name} was measured with {_dataset_text(asked.rows, asked.seed)}. There are"
            f" {'; '.join(_dataset_text(*dataset) for dataset in datasets[:5])}"
        )
    rows, seed = most_of(candidates, lambda candidate: (candidate.cell.rows, candidate.cell.seed))
    candidates = [
        candidate for candidate in candidates if (candidate.cell.rows, candidate.cell.seed) == (rows, seed)
    ]
    axes: dict[str, str] = {}
    offered: dict[str, list[str]] = {}
    values_of = {candidate.cell: study.values_of(candidate.cell) for candidate in candidates}
    for axis in study.axes:
        name = axis.name
        having_axis = [candidate for candidate in candidates if name in values_of[candidate.cell]]
        if not having_axis:
            continue
        values = {values_of[candidate.cell][name] for candidate in having_axis}
        offered[name] = sorted(values, key=_order)
        axes[name] = asked.axes.get(name) or _default(axis, having_axis, values_of)
        if axes[name] != ANY and axes[name] not in values:
            raise unknown(f"value of the axis {name}", axes[name], offered[name])
        candidates = [
            candidate
            for candidate in candidates
            if axes[name] == ANY or values_of[candidate.cell].get(name) in (None, axes[name])
        ]
    return Chosen(rows, seed, datasets, axes, offered, [candidate.cell for candidate in candidates])


def _default(axis: Axis, candidates: Sequence[Known], values_of: Mapping[Cell, Mapping[str, str]]) -> str:
    """Return the default value of an axis. For an axis that only some stores or clients have, it is ANY: each value is ranked.

    An axis with an implied value is an exception: all cells once had this value, and other values use other means, such as more pods.
    """
    if not axis.implied and not axis.where.keys().isdisjoint((STORE, CLIENT)):
        return ANY
    return most_of(candidates, lambda candidate: values_of[candidate.cell][axis.name])


def most_of(known: Sequence[Known], value_of: Callable[[Known], Value]) -> Value:
    """Return the value that most measured cells have; among equally frequent values, the first."""
    values = [value_of(candidate) for candidate in known if candidate.measured] or [
        value_of(candidate) for candidate in known
    ]
    return Counter(values).most_common(1)[0][0]


def _order(value: str) -> tuple[bool, int, str]:
    """Return a sort key that puts numbers by size before words."""
    return (False, int(value), "") if value.isdecimal() else (True, 0, value)


def _dataset_text(rows: int | None, seed: int | None) -> str:
    parts = [("" if rows is None else f"{rows:,} rows"), "" if seed is None else f"seed {seed}"]
    return ", ".join(text for text in parts if text)
