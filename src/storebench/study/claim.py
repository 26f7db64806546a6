"""Claims: sentences of an original study as data, each with the cells that test the sentence and the ratios it states; and their mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from storebench.errors import SpecError, unknown
from storebench.servers.sizes import FIELDS as SIZES
from storebench.study.reserved import CLIENT, OPERATION, POD, STORE

if TYPE_CHECKING:
    from storebench.study.model import Study

# Cells by place: `store`, `client`, `operation`, `rows`, `seed`, an axis or a parameter of a run, with one value or several.
Selection = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Claim:
    """State a sentence of an original study: the ratio of B's figure to A's, and the region of ratios in which the sentence is true.

    Each value of a place makes a case. A place that the claim does not name makes a case of each measured value. Both sides of a case
    have the same value in each place that neither `a` nor `b` names.
    """

    text: str
    operation: str = ""  # the operation of both sides, unless a side names the place `operation`
    a: Selection = field(default_factory=dict)
    b: Selection = field(default_factory=dict)
    both: Selection = field(default_factory=dict)  # an axis here does not exclude a store without that axis
    at_least: float | None = None  # bounds of the region
    at_most: float | None = None
    metric: str = ""  # default: the metric that ranks the operation
    fewest: int | None = None  # number of cases that the text needs; None: all cases
    servers: Mapping[str, str] = field(default_factory=dict)  # by store: the server that the text describes
    note: str = ""  # limits of the comparison
    elsewhere: str = ""  # why no comparison here is the same work: the verdict is `cannot tell`

    def side(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return the values by place of the side `a` or `b`, including the values of `both`."""
        of_side: Selection = getattr(self, name)
        first = {"operation": self.operation} if self.operation else {}
        return {place: _several(values) for place, values in {**first, **self.both, **of_side}.items()}

    def apart(self) -> set[str]:
        """Return the places that `a` or `b` names."""
        return {*self.a, *self.b}

    def cases(self) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
        """Yield the cases that the claim names, each as the values by place for side A and for side B."""
        apart = self.apart()
        shared = {place: values for place, values in self.side("a").items() if place not in apart}
        for common, a, b in itertools.product(_each(shared), _each(self.a), _each(self.b)):
            yield {**common, **a}, {**common, **b}

    def details(self) -> dict[str, Any]:
        """Return the claim as JSON."""
        return {field.name: _listed(getattr(self, field.name)) for field in fields(self)}


def problems_of_claim(study: Study, claim: Claim, common: Collection[str]) -> Iterable[str]:
    """Yield the mistakes in a claim of a study. `common`: names of the metrics that every attempt has."""
    if not (claim.a or claim.b):
        if not claim.elsewhere:
            yield "it names no cells: give `a` and `b`, or say `elsewhere` why nothing here can test it"
        return
    if not (claim.a and claim.b):
        yield f"only the side {'a' if claim.a else 'b'} names cells"
    if twice := sorted(claim.apart() & {*claim.both}):
        yield f"`both` and a side name {', '.join(twice)}"
    if dataset := sorted({"rows", "seed"} & claim.apart()):
        yield f"{', '.join(dataset)}: both sides must have the same dataset; name it in `both`"
    sides = claim.side("a"), claim.side("b")
    alike = [place for place in claim.a if place in claim.b]
    if all(set(sides[0][place]) & set(sides[1][place]) for place in alike):
        yield "both sides may be the same cells: no place has other values in `a` than in `b`"
    for place, values in dict.fromkeys((*sides[0].items(), *sides[1].items())):
        yield from _of_place(study, place, values)
    yield from _of_ratio(study, claim, common)
    yield from (
        f"it says which server is meant by {name!r}, which is no store"
        for name in claim.servers
        if name not in study.stores
    )


def _of_place(study: Study, place: str, values: Sequence[str]) -> Iterable[str]:
    """Yield the values that a place of a claim cannot have."""
    if not values:
        yield f"it has no value of {place}"
    axes = {axis.name: axis for axis in study.axes}
    if place in axes:
        for value in values:
            try:
                axes[place].check(value)
            except SpecError as error:
                yield str(error)
        return
    known: Collection[str] | None = None
    if place == STORE:
        known, values = study.stores, [value.partition("@")[0] for value in values]
    elif place == OPERATION:
        known = [operation.name for operation in study.operations]
    elif place == CLIENT:
        known = study.clients
    elif place in ("rows", "seed"):
        yield from (f"{place} is a number, not {value!r}" for value in values if not value.isdecimal())
    elif place not in (params := {*study.params_and_options(), *SIZES, *POD}):
        yield str(unknown("place", place, [STORE, CLIENT, OPERATION, "rows", "seed", *axes, *sorted(params)]))
    if known is not None:
        yield from (str(unknown(place, value, known)) for value in values if value not in known)


def _of_ratio(study: Study, claim: Claim, common: Collection[str]) -> Iterable[str]:
    """Yield the mistakes in a claim's metric and in its region of ratios."""
    operations = {operation.name: operation for operation in study.operations}
    named = [
        operations[name]
        for name in dict.fromkeys((*claim.side("a").get(OPERATION, ()), *claim.side("b").get(OPERATION, ())))
        if name in operations
    ]
    if not (claim.side("a").get(OPERATION) and claim.side("b").get(OPERATION)):
        yield "it names no operation"
    if not claim.metric and len({operation.ranked_by for operation in named}) > 1:
        yield "its operations are ranked by different metrics: name the metric"
    scalars = {metric.name for metric in study.metrics if metric.kind == "scalar"}
    for operation in named if claim.metric and claim.metric not in common else ():
        reported = [name for name in operation.metrics if name in scalars]
        if claim.metric not in reported:
            yield f"{unknown('metric', claim.metric, [*reported, *common])}"
    low, high = claim.at_least, claim.at_most
    if low is None and high is None:
        if not claim.elsewhere:
            yield "it has no region of ratios: give `at_least`, `at_most` or both"
    elif min(bound for bound in (low, high) if bound is not None) <= 0:
        yield "a bound of its region is not above 0"
    elif low is not None and high is not None and low > high:
        yield f"its region is empty: at_least {low:g} is above at_most {high:g}"
    if claim.fewest is not None and not 1 <= claim.fewest <= len(list(claim.cases())):
        yield f"fewest is {claim.fewest}, and it names {len(list(claim.cases()))} cases"


def _several(values: str | tuple[str, ...]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)


def _each(selection: Selection) -> list[dict[str, str]]:
    """Return the combinations of a selection's values."""
    columns = [_several(values) for values in selection.values()]
    return [dict(zip(selection, values, strict=True)) for values in itertools.product(*columns)]


def _listed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _listed(values) for name, values in value.items()}
    return list(value) if isinstance(value, tuple) else value
