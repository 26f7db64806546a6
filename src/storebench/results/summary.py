"""Keeps what the view `summary` shows: the statistics of each cell's verified repeats that were not disturbed."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from storebench.results.queries import counts, verified_s
from storebench.results.repository import Repository
from storebench.results.statistics import summarize

# One row of the summary is made of the attempts that are the same in these columns.
GROUP = ("cell_key", "operation", "environment_hash", "parameters_hash", "method_version")


def refresh(repository: Repository, keys: Sequence[str]) -> None:
    """Compute the statistics of these cells anew, of each operation, environment, set of parameters and method version on its own."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in repository.attempts_of_cells(keys):
        if counts(row):
            groups[tuple(row[name] for name in GROUP)].append(row)
    repository.replace_statistics(keys, [_statistic(rows) for rows in groups.values()])


def _statistic(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = summarize(verified_s(rows))
    memory = [peak for row in rows if (peak := row["all_memory_working_set_peak_bytes"]) is not None]
    return {
        **{name: rows[0][name] for name in GROUP},
        "parameters_hash": rows[0]["parameters_hash"]
        or "",  # of attempts from before parameters were recorded
        "n": found.n,
        "median_s": found.median_s,
        "min_s": found.min_s,
        "max_s": found.max_s,
        "first_quartile_s": found.first_quartile_s,
        "third_quartile_s": found.third_quartile_s,
        "interval_low_s": found.interval.low if found.interval else None,
        "interval_high_s": found.interval.high if found.interval else None,
        "interval_coverage": found.interval.coverage if found.interval else None,
        "median_total_s": statistics.median(row["total_s"] for row in rows),
        "figures_cover": rows[0]["figures_cover"],
        "median_working_set_peak_bytes": statistics.median(memory) if memory else None,
    }
