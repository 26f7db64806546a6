"""Compute how many servers a required rate needs, and their price, from measured rates and from the figures of the servers' agents."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from storebench.errors import SpecError, unknown
from storebench.results.forecast.sets import ServerSet, server_sets
from storebench.results.statistics.intervals import Summary

UNIT = "_per_s"  # the end of the name of a metric that is a rate


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

    `rows`: of the view `results`. `operation_s`: from `operation_seconds`. `metric`: the name of a rate. `cpu_hour`,
    `gib_hour`: price of a core and of a GiB for an hour. Raises SpecError for a metric that is no rate, or that no attempt has.
    """
    if not metric.endswith(UNIT):
        raise SpecError(f"{metric} is no rate: give a metric whose name ends with {UNIT}")
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row["metrics"] or {} if name.endswith(UNIT))
    if metric not in names:
        raise unknown("rate of these runs", metric, names)
    cells = {(row["cell_key"], row["operation"]) for row in rows if metric in (row["metrics"] or {})}
    reporting = [row for row in rows if (row["cell_key"], row["operation"]) in cells]
    # no number of servers reaches a rate of 0
    sets = server_sets(reporting, operation_s, lambda row: (row["metrics"] or {}).get(metric) or None)
    return [_demand(of_size, (rate_per_s, cpu_hour, gib_hour)) for of_size in sets]


def _demand(of_size: ServerSet, required: tuple[float, float, float]) -> Demand:
    demand = Demand(
        of_size.cell_key,
        of_size.operation,
        of_size.sizes,
        of_size.n,
        of_size.excluded,
        of_size.figure,
        of_size.cores,
        of_size.gib,
    )
    return _priced(demand, of_size.figure, *required) if of_size.figure else demand


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
