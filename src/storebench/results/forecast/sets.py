"""Summarize sets of servers: the rate or another figure that a set has shown, and the cores and memory that it used."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storebench.results.database.queries import OPERATION, Queries, counts
from storebench.results.forecast.price import GIB
from storebench.results.statistics.intervals import Summary, summarize
from storebench.servers.sizes import FIELDS
from storebench.study.cell import Cell

Row = Mapping[str, Any]


@dataclass(frozen=True)
class ServerSet:
    """The figures of a set of servers, by a cell's operation and the sizes of its servers.

    A set is all servers that the run provisioned for the cell. `figure`: of the attempts that count; None without such an attempt.
    """

    cell_key: str
    operation: str
    sizes: Mapping[str, Any]  # parameters of the run that set the servers' sizes, without empty ones
    n: int
    excluded: int  # attempts that are not verified, were disturbed, lack the figure, or were limited by their client
    figure: Summary | None
    cores: float | None  # median of the cores that a set kept busy; None if no agent watched the servers
    gib: float | None  # median of the peak working set of a set, in GiB
    attempts: Sequence[Row]  # the attempts that count


def sizes_of(row: Row) -> dict[str, Any]:
    """Return the sizes of an attempt's servers by the names of parameters: axes of its cell take precedence over its run's parameters."""
    values = {**(row["parameters"] or {}), **dict(Cell.from_key(row["cell_key"]).axes)}
    return {name: values[name] for name in FIELDS if values.get(name) is not None}


def shows_servers(row: Row) -> bool:
    """Return whether an attempt counts, and shows its servers: an attempt that its client limited shows the client."""
    return counts(row) and not row["client_bound"]


def operation_seconds(queries: Queries, attempt_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, float]:
    """Return the seconds of the phase OPERATION by attempt."""
    return {
        phase["attempt_id"]: phase["seconds"]
        for phase in queries.phases(attempt_ids)
        if phase["name"] == OPERATION
    }


def server_sets(
    rows: Iterable[Row], operation_s: Mapping[uuid.UUID, float], figure_of: Callable[[Row], float | None]
) -> list[ServerSet]:
    """Return the sets of servers of some attempts, in the order of the first attempts.

    `operation_s`: from `operation_seconds`. `figure_of`: returns an attempt's figure, or None.
    """
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["cell_key"], row["operation"], tuple(sizes_of(row).items())].append(row)
    return [_set(key, group, operation_s, figure_of) for key, group in groups.items()]


def _set(
    key: tuple[Any, ...],
    rows: Sequence[Row],
    operation_s: Mapping[uuid.UUID, float],
    figure_of: Callable[[Row], float | None],
) -> ServerSet:
    cell_key, operation, sizes = key
    counted = [row for row in rows if shows_servers(row) and figure_of(row) is not None]
    figures = [figure for row in counted if (figure := figure_of(row)) is not None]
    return ServerSet(
        cell_key,
        operation,
        dict(sizes),
        len(counted),
        len(rows) - len(counted),
        summarize(figures) if figures else None,
        _median(
            row["servers_cpu_s"] / operation_s[row["attempt_id"]]
            for row in counted
            if row["servers_cpu_s"] is not None and operation_s.get(row["attempt_id"])
        ),
        _median(
            row["servers_memory_working_set_peak_bytes"] / GIB
            for row in counted
            if row["servers_memory_working_set_peak_bytes"] is not None
        ),
        counted,
    )


def _median(values: Iterable[float]) -> float | None:
    listed = list(values)
    return summarize(listed).median if listed else None
