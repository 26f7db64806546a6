"""What a verified GB cost in CPU and memory of the pods, from prices of an hour of each.

Only what is alike is ranked: a client's figures, whose server is not in them, never stand beside those of an engine.
"""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from storebench.grid import Cell
from storebench.results.listing import NOTHING, Column, print_listing
from storebench.results.queries import counts
from storebench.results.table import places_of

HOUR_S = 3600
GIB, GB = 2**30, 1e9
# What the figures are of, and how that is told.
COVERS = {
    "client": "Of the client only: the server that did the work is not in these figures",
    "engine": "With the engine in them",
    None: "Not recorded whether the engine is in the figures",
}
FIGURES = [Column("n", number=True), Column("left out", number=True)]
FIGURES += [Column(heading, number=True, needed=False) for heading in ("CPU h/GB", "memory GiB h/GB")]


@dataclass(frozen=True)
class Price:
    """Of one cell's operation; hours are medians over the `n` attempts that count, for each GB (10^9 bytes) of CSV written or read."""

    figures_cover: str | None  # of COVERS
    cell_key: str
    operation: str
    n: int
    left_out: int  # attempts that are not verified, were disturbed, or whose CPU was not recorded
    cpu_hours_per_gb: float | None  # used, of the pod and its executors; None where no attempt counts
    memory_gib_hours_per_gb: float | None  # their peak working set, for as long as the pod lived
    cost_per_gb: float | None


def prices(rows: Iterable[Mapping[str, Any]], cpu_hour: float, gib_hour: float) -> list[Price]:
    """The prices of these attempts, rows of the view `results`: group by group of COVERS, in each the cheapest first; `cpu_hour` is for
    one core.

    The stores' servers are not in it: how much of a server one cell uses, its own metrics say, if at all.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["cell_key"], row["operation"]].append(row)
    found = []
    for (cell_key, operation), attempts in groups.items():
        used = [_hours_per_gb(row) for row in attempts if counts(row) and row["all_cpu_s"] is not None]
        cover = next((row["figures_cover"] for row in attempts if row["figures_cover"]), None)
        cpu = statistics.median(hours for hours, _ in used) if used else None
        memory = statistics.median(hours for _, hours in used) if used else None
        cost = None if cpu is None or memory is None else cpu * cpu_hour + memory * gib_hour
        left_out = len(attempts) - len(used)
        found.append(Price(cover, cell_key, operation, len(used), left_out, cpu, memory, cost))
    return sorted(found, key=_rank)


def _rank(price: Price) -> tuple[int, str, bool, float]:
    group = list(COVERS).index(price.figures_cover)
    return group, price.operation, price.cost_per_gb is None, price.cost_per_gb or 0.0


def _hours_per_gb(row: Mapping[str, Any]) -> tuple[float, float]:
    gigabytes, hours = row["dataset_bytes"] / GB, row["total_s"] / HOUR_S
    gib = (row["all_memory_working_set_peak_bytes"] or 0) / GIB
    return row["all_cpu_s"] / HOUR_S / gigabytes, gib * hours / gigabytes


def print_prices(console: Console, found: Iterable[Price], currency: str) -> None:
    """A table for each group of COVERS that there is, with a line for each cell's operation."""
    for cover, group in itertools.groupby(found, key=lambda price: price.figures_cover):
        prices = list(group)
        names, places = places_of(Cell.from_key(price.cell_key) for price in prices)
        print_listing(
            console,
            [*names, Column("operation"), *FIGURES, Column(f"{currency}/GB", number=True)],
            [
                (
                    *place,
                    price.operation,
                    str(price.n),
                    str(price.left_out or NOTHING),
                    _figure(price.cpu_hours_per_gb),
                    _figure(price.memory_gib_hours_per_gb),
                    _figure(price.cost_per_gb),
                )
                for place, price in zip(places, prices, strict=True)
            ],
            title=COVERS[cover],
        )


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4f}"
