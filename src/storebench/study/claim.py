"""Claims: sentences of an original study as data, each with the cells that test the sentence and the ratios it states."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

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
