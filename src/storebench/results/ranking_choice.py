"""Choose the cells that are ranked together: a dataset, and values on the axes. By default, those at which most cells were measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from storebench.errors import SpecError, unknown
from storebench.results.measurements import Details
from storebench.results.verdicts import MARGIN
from storebench.study.cell import Cell
from storebench.study.reserved import CLIENT, STORE

ANY = "*"  # in the place of a value on an axis: whatever it is

Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True)
class Question:
    """The requested ranking. None, or an axis without a value, means the value at which most cells were measured.

    `conditions` is a name of `storebench.results.conditions.id_of`, `kind` a delivery or durability. `included` are reasons for exclusion
    that are ignored. `margin` is a share: a smaller difference counts as equal.
    """

    study: str
    operation: str | None = None
    metric: str | None = None  # None: the one that ranks the operation
    rows: int | None = None
    seed: int | None = None
    axes: Mapping[str, str] = field(default_factory=dict)
    conditions: str | None = None
    kind: str | None = None
    included: frozenset[str] = frozenset()
    margin: float = MARGIN


@dataclass(frozen=True)
class Known:
    """A cell that has been in a run; whether anything was measured of it."""

    cell: Cell
    measured: bool


@dataclass(frozen=True)
class Chosen:
    """The cells that are ranked together, and what could be chosen in their place.

    `axes` has ANY for an axis on which they may differ; an axis that none of them has is not in it. `offered` are the values of each axis
    in cells that are alike on those before it, in the axis's order.
    """

    rows: int
    seed: int
    datasets: Sequence[tuple[int, int]]  # rows and seed, the largest first
    axes: Mapping[str, str]
    offered: Mapping[str, Sequence[str]]
    cells: Sequence[Cell]


def choose(study: Details, known: Sequence[Known], asked: Question) -> Chosen:
    """Raises SpecError where there are no such cells, and for an axis that the study does not have."""
    if not known:
        raise SpecError(f"There are no results of the study {study['name']} yet")
    names = [axis["name"] for axis in study["axes"]]
    for name in asked.axes:
        if name not in names:
            raise unknown("axis", name, names)
    datasets = sorted({(one.cell.rows, one.cell.seed) for one in known}, reverse=True)
    left = [
        one for one in known if asked.rows in (None, one.cell.rows) and asked.seed in (None, one.cell.seed)
    ]
    if not left:
        raise SpecError(
            f"Nothing of the study {study['name']} was measured with {_dataset_text(asked.rows, asked.seed)}. There are"
            f" {'; '.join(_dataset_text(*one) for one in datasets[:5])}"
        )
    rows, seed = most_of(left, lambda one: (one.cell.rows, one.cell.seed))
    left = [one for one in left if (one.cell.rows, one.cell.seed) == (rows, seed)]
    axes: dict[str, str] = {}
    offered: dict[str, list[str]] = {}
    for axis in study["axes"]:
        name = axis["name"]
        there = [one for one in left if one.cell.value(name) is not None]
        if not there:
            continue
        values = {str(one.cell.value(name)) for one in there}
        offered[name] = sorted(values, key=_order)
        axes[name] = asked.axes.get(name) or _default(axis, there)
        if axes[name] != ANY and axes[name] not in values:
            raise unknown(f"value of the axis {name}", axes[name], offered[name])
        left = [one for one in left if axes[name] == ANY or one.cell.value(name) in (None, axes[name])]
    return Chosen(rows, seed, datasets, axes, offered, [one.cell for one in left])


def _default(axis: Mapping[str, Any], there: Sequence[Known]) -> str:
    """An axis that only some stores or clients have says how these are driven: they are ranked with each of its values."""
    if not axis["where"].keys().isdisjoint((STORE, CLIENT)):
        return ANY
    return most_of(there, lambda one: str(one.cell.value(axis["name"])))


def most_of(known: Sequence[Known], value_of: Callable[[Known], Value]) -> Value:
    """The value that most of the cells have that were measured; of as many, the first in their order."""
    values = [value_of(one) for one in known if one.measured] or [value_of(one) for one in known]
    return Counter(values).most_common(1)[0][0]


def _order(value: str) -> tuple[bool, int, str]:
    """Numbers by size, then words."""
    return (False, int(value), "") if value.isdecimal() else (True, 0, value)


def _dataset_text(rows: int | None, seed: int | None) -> str:
    told = [("" if rows is None else f"{rows:,} rows"), "" if seed is None else f"seed {seed}"]
    return ", ".join(text for text in told if text)
