"""Compute how many servers a required rate needs, and their price, from measured rates and from the figures of the servers' agents."""

from __future__ import annotations

import math
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storebench.errors import SpecError, unknown
from storebench.results.database.queries import counts
from storebench.results.forecast.price import GIB
from storebench.results.statistics.intervals import Summary, summarize
from storebench.servers.sizes import FIELDS

UNIT = "_per_s"  # the end of the name of a metric that is a rate
OPERATION = "operation"  # the phase whose seconds the agents' CPU seconds are divided by


@dataclass(frozen=True)
class Span:
    """A figure at the median rate, and at both ends of the rate's 95 % interval. `low` and `high` are None without an interval."""

    median: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Demand:
    """The servers that a required rate needs, by a cell's operation and the size of its servers.

    A set is all servers that the run provisioned for the cell. The computation assumes that rates of sets add up.
    """

    cell_key: str
    operation: str
    sizes: Mapping[str, Any]  # parameters of the run that set the servers' sizes, without empty ones
    n: int
    excluded: int  # attempts that are not verified, were disturbed, lack the metric, or were limited by their client
    rate_per_s: Summary | None  # that one set has shown; None without an attempt that counts
    set_cores: (
        float | None
    )  # median of the cores that a set kept busy at that rate; None if no agent watched the servers
    set_gib: float | None  # median of the peak working set of a set, in GiB
    sets: Span | None = None  # number of sets for the required rate
    cores: Span | None = None  # cores kept busy at the required rate
    gib: Span | None = None  # working set of all sets, in GiB
    cost_per_hour: Span | None = None


def demands(
    rows: Iterable[Mapping[str, Any]],
    operation_s: Mapping[uuid.UUID, float],
    metric: str,
    rate_per_s: float,
    cpu_hour: float,
    gib_hour: float,
) -> list[Demand]:
    """Return the demand of each cell's operation and size that has attempts with the metric, in the order of the first attempts.

    `rows`: of the view `results`. `operation_s`: seconds of the phase OPERATION by attempt. `metric`: the name of a rate. `cpu_hour`,
    `gib_hour`: price of a core and of a GiB for an hour. Raises SpecError for a metric that is no rate, or that no attempt has.
    """
    if not metric.endswith(UNIT):
        raise SpecError(f"{metric} is no rate: give a metric whose name ends with {UNIT}")
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(name for name in row["metrics"] or {} if name.endswith(UNIT))
        groups[row["cell_key"], row["operation"], tuple(_sizes(row).items())].append(row)
    if metric not in names:
        raise unknown("rate of these runs", metric, names)
    return [
        _demand(key, group, operation_s, metric, (rate_per_s, cpu_hour, gib_hour))
        for key, group in groups.items()
        if any(metric in (row["metrics"] or {}) for row in group)
    ]


def _demand(
    key: tuple[Any, ...],
    attempts: Sequence[Mapping[str, Any]],
    operation_s: Mapping[uuid.UUID, float],
    metric: str,
    required: tuple[float, float, float],
) -> Demand:
    cell_key, operation, sizes = key
    # An attempt that its client limited shows the client's rate, not the servers'.
    used = [
        row
        for row in attempts
        if counts(row) and not row["client_bound"] and (row["metrics"] or {}).get(metric)
    ]
    excluded = len(attempts) - len(used)
    if not used:
        return Demand(cell_key, operation, dict(sizes), 0, excluded, None, None, None)
    rate = summarize([row["metrics"][metric] for row in used])
    cores = _median(
        row["servers_cpu_s"] / operation_s[row["attempt_id"]]
        for row in used
        if row["servers_cpu_s"] is not None and operation_s.get(row["attempt_id"])
    )
    gib = _median(
        row["servers_memory_working_set_peak_bytes"] / GIB
        for row in used
        if row["servers_memory_working_set_peak_bytes"] is not None
    )
    demand = Demand(cell_key, operation, dict(sizes), len(used), excluded, rate, cores, gib)
    return _priced(demand, rate, *required)


def _priced(demand: Demand, rate: Summary, rate_per_s: float, cpu_hour: float, gib_hour: float) -> Demand:
    """Return the demand with its figures for the required rate."""

    def span(figure: Any) -> Span:
        ends = (rate.interval.high, rate.interval.low) if rate.interval else (None, None)
        return Span(figure(rate.median), *(figure(end) if end else None for end in ends))

    def sets(of_one: float) -> int:
        return math.ceil(rate_per_s / of_one - 1e-9)

    cores, gib = demand.set_cores, demand.set_gib
    figures: dict[str, Span | None] = {"sets": span(sets)}
    if cores is not None:
        figures["cores"] = span(lambda of_one: cores * rate_per_s / of_one)
    if gib is not None:
        figures["gib"] = span(lambda of_one: gib * sets(of_one))
    if cores is not None and gib is not None:
        figures["cost_per_hour"] = span(
            lambda of_one: cores * rate_per_s / of_one * cpu_hour + gib * sets(of_one) * gib_hour
        )
    return Demand(**{**vars(demand), **figures})


def _sizes(row: Mapping[str, Any]) -> dict[str, Any]:
    parameters = row["parameters"] or {}
    return {name: parameters[name] for name in FIELDS if parameters.get(name) is not None}


def _median(values: Iterable[float]) -> float | None:
    listed = list(values)
    return summarize(listed).median if listed else None
