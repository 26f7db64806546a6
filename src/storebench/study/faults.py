"""Define the axis `fault`: what is done to a server on purpose while an operation runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from storebench.servers.fault import FAULTS, NO_FAULT, PARAMS
from storebench.study.model import Axis, Metric
from storebench.study.reserved import FAULT, STORE

if TYPE_CHECKING:
    from storebench.study.model import Study

# All figures of attempts with a fault. docs/method.md defines each.
METRICS = (
    Metric("lost_acknowledged", "acknowledged writes that are lost after the fault"),
    Metric("doubled", "additional copies of writes after the fault"),
    Metric("unavailable_s", "longest stretch without a success"),
    Metric("unavailable_sum_s", "sum of all stretches without a success"),
    Metric("recover_s", "time from the fault until rate and latency are as before"),
    Metric("caught_up_s", "time from the end of the fault until all copies of the data are whole"),
    Metric("p99_before_s", "latency before the fault, 99 %"),
    Metric("p99_during_s", "latency during the fault, 99 %"),
    Metric("p99_after_s", "latency after the fault, 99 %"),
    Metric("command_s", "time of the server's own command"),
    Metric("fault_from_s", "begin of the fault", "neither"),
    Metric("fault_to_s", "end of the fault: the server answers again", "neither"),
    Metric("fault_skew_s", "largest error of the begin and the end of the fault", "neither"),
)
# The figures that every attempt with a fault has
ALWAYS = ("lost_acknowledged", "doubled", "fault_from_s", "fault_to_s", "fault_skew_s")


def metrics_of_faults(*more: str) -> tuple[Metric, ...]:
    """Return the metrics that a study with faults needs, and the others of METRICS that its attempts report. `more`: names of the others."""
    return tuple(metric for metric in METRICS if metric.name in (*ALWAYS, *more))


def axis_of_faults(*stores: str, kinds: Collection[str]) -> Axis:
    """Return the axis `fault` of a study. `stores`: the study's stores with faults. `kinds`: all faults that they have (`Store.faults`)."""
    values = (NO_FAULT, *(name for name in FAULTS if name in kinds))
    told = "; ".join(f"**{name}**: {meaning}" for name, meaning in FAULTS.items() if name in kinds)
    return Axis(
        name=FAULT,
        title="Fault",
        description="The fault that a run injects into one server while an operation runs. Afterwards, the acknowledged writes are compared"
        f" with the server's data. **{NO_FAULT}**: nothing; {told}.",
        pattern="|".join(values),
        hint=" or ".join(values),
        default=(NO_FAULT,),
        choices=values,
        grid=(NO_FAULT,),
        where={STORE: stores},
        implied=NO_FAULT,
    )


def problems_of_faults(study: Study) -> Iterable[str]:
    """Yield the mistakes in a study with the axis `fault`. Raises SpecError for a store that cannot be loaded."""
    axis = next((axis for axis in study.axes if axis.name == FAULT), None)
    if axis is None:
        return
    listed = {name: faults for name in study.stores if (faults := study.store(name).faults)}
    for name, faults in listed.items():
        yield from (
            f"the store {name!r}: faults has {fault!r}, which is none of {', '.join(FAULTS)}"
            for fault in faults
            if fault not in FAULTS
        )
    kinds = {fault for faults in listed.values() for fault in faults}
    if axis != axis_of_faults(*axis.where.get(STORE, ()), kinds=axis.choices):
        yield f"the axis {FAULT!r} is not made by axis_of_faults (storebench.study.faults)"
    elif set(axis.where[STORE]) != set(listed) or kinds != set(axis.choices) - {NO_FAULT}:
        yield f"the axis {FAULT!r} must name the stores with faults, {tuple(listed)}, and their faults, {tuple(sorted(kinds))}"
    for what, needed, there in (
        ("parameter", tuple(PARAMS), study.params),
        ("metric", ALWAYS, {metric.name for metric in study.metrics}),
    ):
        yield from (
            f"a study with the axis {FAULT!r} needs the {what} {name!r} of storebench.study"
            for name in needed
            if name not in there
        )
