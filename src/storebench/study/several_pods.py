"""Define the axis `pods`: how many pods do one operation together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from storebench.stores.base import Store
from storebench.study.model import Axis
from storebench.study.reserved import PODS, STORE

if TYPE_CHECKING:
    from storebench.study.model import Study

UNDIVIDED = "1"


def several_pods(*stores: str) -> Axis:
    """Return the axis `pods` of a study. `stores`: the study's stores that can divide an operation (`Store.divides`)."""
    return Axis(
        name=PODS,
        title="Pods",
        description="Pods that do one operation together: each pod does a part, and all parts are one attempt, verified as a whole."
        f" **{UNDIVIDED}** does not divide. An operation that its store cannot divide, and a store that divides nothing, use one pod.",
        pattern="[1-9][0-9]{0,2}",
        hint="a number of pods from 1 to 999",
        default=(UNDIVIDED,),
        choices=("1", "2", "4", "8"),
        grid=(UNDIVIDED,),
        where={STORE: stores},
        implied=UNDIVIDED,
    )


def pods_of(store: type[Store], operation: str, axes: Mapping[str, str]) -> int:
    """Return the number of pods that do an operation of a store. `axes`: a cell's values."""
    return int(axes.get(PODS, UNDIVIDED)) if operation in store.divides else 1


def merges_of(study: Study) -> dict[str, str]:
    """Return how the parts' figures become one figure: the rule by the metric's name, without histograms.

    The rules are of all metrics: an operation may also report metrics that it does not list.
    """
    return {metric.name: metric.merge for metric in study.metrics if metric.merge}


def problems_of_pods(study: Study) -> Iterable[str]:
    """Yield the mistakes in a study with the axis `pods`. Raises SpecError for a store that cannot be loaded."""
    axis = next((axis for axis in study.axes if axis.name == PODS), None)
    if axis is None:
        return
    divides = {name: store.divides for name in study.stores if (store := study.store(name)).divides}
    for name, divided in divides.items():
        yield from (
            f"the store {name!r}: divides has {operation!r}, which is no operation of the store"
            for operation in divided
            if operation not in study.store(name).operations
        )
    yield from _of_axis(axis, tuple(divides))
    divided_operations = {operation for names in divides.values() for operation in names}
    metrics = {metric.name: metric for metric in study.metrics}
    for operation in study.operations:
        yield from (
            f"the metric {name!r} of the divided operation {operation.name!r} has no merge, so the figures of several pods cannot become one"
            for name in operation.metrics
            if operation.name in divided_operations
            and metrics[name].kind != "histogram"
            and metrics[name].merge is None
        )


def _of_axis(axis: Axis, dividing: tuple[str, ...]) -> Iterable[str]:
    """Yield the mistakes in the axis `pods`. `dividing`: the stores that divide an operation."""
    if axis != several_pods(*axis.where.get(STORE, ())):
        yield f"the axis {PODS!r} is not made by several_pods (storebench.study.several_pods)"
    elif set(axis.where[STORE]) != set(dividing):
        yield f"the axis {PODS!r} must name the stores that divide an operation: several_pods{_call(dividing)}"


def _call(names: tuple[str, ...]) -> str:
    return f"({', '.join(map(repr, names))})"
