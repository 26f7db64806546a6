"""Price a verified GB, or a verified attempt in a study without a dataset, from hourly prices of CPU and memory. The pods include
servers that the run started.

A ranking has only like figures: figures of a client, without its server, never stand beside figures of an engine.
"""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Console

from storebench.results.listing import NOTHING, Column, print_listing
from storebench.results.queries import counts
from storebench.results.table import places_of
from storebench.study.cell import Cell

HOUR_S = 3600
GIB, GB = 2**30, 1e9
# What the figures are of, and how that is told.
COVERS = {
    "client": "Of the client only: the server that did the work is not in these figures",
    "engine": "With the engine in them",
    None: "Not recorded whether the engine is in the figures",
}
Per = Literal[
    "GB", "attempt"
]  # what a price is for: a GB (10^9 bytes) of the dataset, or an attempt where there is none


@dataclass(frozen=True)
class Hours:
    """The CPU and memory hours of a cell's operation per unit `per`: medians of the `n` attempts that count."""

    figures_cover: str | None  # of COVERS
    cell_key: str
    operation: str
    n: int
    left_out: int  # attempts that are not verified, were disturbed, or whose CPU or time without verification is not known
    per: Per
    cpu_hours: (
        float | None
    )  # used, of the pod, those that it started, and servers; None where no attempt counts
    memory_gib_hours: (
        float | None
    )  # their peak working set, for as long as the pod lived without its verification


@dataclass(frozen=True)
class Price(Hours):
    """The hours of a cell's operation, and their cost."""

    cost: float | None


def prices(rows: Iterable[Mapping[str, Any]], cpu_hour: float, gib_hour: float) -> list[Price]:
    """The prices of these attempts: group by group of COVERS, in each the cheapest first; `cpu_hour` is for one core."""
    found = [Price(**vars(used), cost=_cost(used, cpu_hour, gib_hour)) for used in hours(rows)]
    return sorted(found, key=_rank)


def _cost(used: Hours, cpu_hour: float, gib_hour: float) -> float | None:
    if used.cpu_hours is None or used.memory_gib_hours is None:
        return None
    return used.cpu_hours * cpu_hour + used.memory_gib_hours * gib_hour


def hours(rows: Iterable[Mapping[str, Any]]) -> list[Hours]:
    """Return the hours of attempts, rows of the view `results`, in the order of each operation's first attempt.

    The hours include servers that the run started, and no other servers.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["cell_key"], row["operation"]].append(row)
    with_datasets = {
        Cell.from_key(key).study
        for (key, _), group in groups.items()
        if any(row["dataset_id"] for row in group)
    }
    found = []
    for (cell_key, operation), attempts in groups.items():
        per: Per = "GB" if Cell.from_key(cell_key).study in with_datasets else "attempt"
        known = [
            row
            for row in attempts
            if None not in (row["all_cpu_s"], row["work_total_s"])
            and (row["dataset_bytes"] or per == "attempt")
        ]
        used = [_hours(row, per) for row in known if counts(row)]
        cover = next((row["figures_cover"] for row in attempts if row["figures_cover"]), None)
        cpu = statistics.median(one for one, _ in used) if used else None
        memory = statistics.median(one for _, one in used) if used else None
        left_out = len(attempts) - len(used)
        found.append(Hours(cover, cell_key, operation, len(used), left_out, per, cpu, memory))
    return found


def _rank(price: Price) -> tuple[int, str, bool, float]:
    group = list(COVERS).index(price.figures_cover)
    return group, price.operation, price.cost is None, price.cost or 0.0


def _hours(row: Mapping[str, Any], per: Per) -> tuple[float, float]:
    """Core hours and GiB hours of an attempt, for each of what `per` says."""
    amount = row["dataset_bytes"] / GB if per == "GB" else 1
    gib = (row["all_memory_working_set_peak_bytes"] or 0) / GIB
    return row["all_cpu_s"] / HOUR_S / amount, gib * row["work_total_s"] / HOUR_S / amount


def print_prices(console: Console, found: Iterable[Price], currency: str) -> None:
    """A table for each group of COVERS that there is, with a line for each cell's operation."""
    for (cover, per), group in itertools.groupby(found, key=lambda price: (price.figures_cover, price.per)):
        prices = list(group)
        names, places = places_of(Cell.from_key(price.cell_key) for price in prices)
        print_listing(
            console,
            [
                *names,
                Column("operation"),
                Column("n", number=True),
                Column("left out", number=True),
                Column(f"CPU h/{per}", number=True, needed=False),
                Column(f"memory GiB h/{per}", number=True, needed=False),
                Column(f"{currency}/{per}", number=True),
            ],
            [
                (
                    *place,
                    price.operation,
                    str(price.n),
                    str(price.left_out or NOTHING),
                    _figure(price.cpu_hours),
                    _figure(price.memory_gib_hours),
                    _figure(price.cost),
                )
                for place, price in zip(places, prices, strict=True)
            ],
            title=COVERS[cover],
        )


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4f}"
