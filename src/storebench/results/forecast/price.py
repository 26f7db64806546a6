"""Price a verified GB, or a verified attempt in a study without a dataset, from hourly prices of CPU and memory. The pods include
servers that the run started.

Prices are only ranked among equal covers: a client without its server is never compared with an engine.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from storebench.results.database.queries import counts
from storebench.results.database.rows import AttemptRow
from storebench.study.cell import Cell

HOUR_S = 3600
GIB, GB = 2**30, 1e9
# The cover of figures, and its text.
COVERS = {
    "client": "Of the client only: the server that did the work is not in these figures",
    "engine": "With the engine in them",
    None: "Not recorded whether the engine is in the figures",
}
Per = Literal[
    "GB", "attempt"
]  # the unit of a price: a GB (10^9 bytes) of the dataset, or an attempt without a dataset


@dataclass(frozen=True)
class Hours:
    """The CPU and memory hours of a cell's operation per unit `per`: medians of the `n` attempts that count."""

    figures_cover: str | None  # of COVERS
    cell_key: str
    operation: str
    n: int
    excluded: int  # number of attempts that are not verified, were disturbed, or lack CPU or time without verification
    per: Per
    cpu_hours: (
        float | None
    )  # CPU hours used by the pod, pods that it started, and servers; None if no attempt counts
    memory_gib_hours: float | None  # their peak working set times the pod's life without verification


@dataclass(frozen=True)
class Price(Hours):
    """The hours of a cell's operation, and their cost."""

    cost: float | None


def prices(rows: Iterable[AttemptRow], cpu_hour: float, gib_hour: float) -> list[Price]:
    """Return the prices of attempts, grouped by COVERS, the cheapest first. `cpu_hour`: price of one core for an hour."""
    priced = [Price(**vars(used), cost=_cost(used, cpu_hour, gib_hour)) for used in hours(rows)]
    return sorted(priced, key=_rank)


def _cost(used: Hours, cpu_hour: float, gib_hour: float) -> float | None:
    if used.cpu_hours is None or used.memory_gib_hours is None:
        return None
    return used.cpu_hours * cpu_hour + used.memory_gib_hours * gib_hour


def hours(rows: Iterable[AttemptRow]) -> list[Hours]:
    """Return the hours of attempts, rows of the view `results`, in the order of each operation's first attempt.

    The hours include only servers that the run provisioned.
    """
    groups: dict[tuple[str, str], list[AttemptRow]] = defaultdict(list)
    for row in rows:
        groups[row["cell_key"], row["operation"]].append(row)
    with_datasets = {
        Cell.from_key(key).study
        for (key, _), group in groups.items()
        if any(row["dataset_id"] for row in group)
    }
    hours_of_operations = []
    for (cell_key, operation), attempts in groups.items():
        per: Per = "GB" if Cell.from_key(cell_key).study in with_datasets else "attempt"
        used = [hours for row in attempts if counts(row) and (hours := _hours(row, per))]
        cover = next((row["figures_cover"] for row in attempts if row["figures_cover"]), None)
        cpu = statistics.median(cpu_hours for cpu_hours, _ in used) if used else None
        memory = statistics.median(memory_hours for _, memory_hours in used) if used else None
        excluded = len(attempts) - len(used)
        hours_of_operations.append(Hours(cover, cell_key, operation, len(used), excluded, per, cpu, memory))
    return hours_of_operations


def _rank(price: Price) -> tuple[int, str, bool, float]:
    group = list(COVERS).index(price.figures_cover)
    return group, price.operation, price.cost is None, price.cost or 0.0


def _hours(row: AttemptRow, per: Per) -> tuple[float, float] | None:
    """Return the core hours and GiB hours of an attempt per unit `per`; None if a figure or the dataset's size is unknown."""
    amount = (row["dataset_bytes"] or 0) / GB if per == "GB" else 1
    cpu_s, work_s = row["all_cpu_s"], row["work_total_s"]
    if cpu_s is None or work_s is None or not amount:
        return None
    gib = (row["all_memory_working_set_peak_bytes"] or 0) / GIB
    return cpu_s / HOUR_S / amount, gib * work_s / HOUR_S / amount
