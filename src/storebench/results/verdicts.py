"""Prints a comparison: a table to read, or JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.table import Table

from storebench.results.compare import Comparison
from storebench.results.statistics import (
    CONFIDENCE,
    MIN_VALUES,
    TEST,
    Interval,
    cannot_tell_share,
    noise_floor,
)


def print_comparison(console: Console, found: Comparison, margin_percent: float, *, noise: bool) -> None:
    """The verdicts, what has none, and what differs beside what was compared; `noise` adds the noise floor."""
    console.print(_table(found))
    for (cell, operation), remarks in found.remarks.items():
        if remarks:
            console.print(f"unsound: {operation} {cell}".rstrip() + f": {'; '.join(remarks)}", soft_wrap=True)
    for (cell, operation), reason in found.without.items():
        console.print(f"no verdict: {operation} {cell}".rstrip() + f": {reason}", soft_wrap=True)
    if found.differences:
        console.print("[bold]Not only that differs[/bold] (A -> B):")
        for line in found.differences:
            console.print(f"  {line}", soft_wrap=True, markup=False)
    counts = Counter(verdict.label for verdict in found.verdicts.values())
    console.print(
        f"{counts.total()} compared: "
        + (", ".join(f"{n} {label}" for label, n in counts.most_common()) or "nothing")
    )
    if noise and found.verdicts:
        alike = list(found.verdicts.values())
        console.print(
            f"noise floor {noise_floor(alike):.1%}"
            f" (95 % of the ratios are nearer to 1); cannot tell: {cannot_tell_share(alike):.0%}"
        )
    console.print(
        f"{TEST}; intervals {CONFIDENCE:.0%}, bootstrap, of the ratio of the medians; a difference within"
        f" {margin_percent:g} % does not count; fewer than {MIN_VALUES} repeats say nothing",
        soft_wrap=True,
    )


def as_json(found: Comparison) -> str:
    """All of it as one object."""
    lines = [
        {
            "cell": cell,
            "operation": operation,
            **asdict(verdict),
            "remarks": found.remarks[cell, operation],
        }
        for (cell, operation), verdict in found.verdicts.items()
    ]
    without = [
        {
            "cell": cell,
            "operation": operation,
            "reason": reason,
            "remarks": found.remarks[cell, operation],
        }
        for (cell, operation), reason in found.without.items()
    ]
    return json.dumps(
        {"verdicts": lines, "without": without, "differences": found.differences, "test": TEST}, indent=2
    )


def _table(found: Comparison) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("cell", overflow="fold")
    table.add_column("operation", no_wrap=True)
    for heading in ("n A", "n B", "median A, s", "median B, s", "B / A", "interval", "p adjusted"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict: B is", no_wrap=True)
    for (cell, operation), verdict in found.verdicts.items():
        table.add_row(
            cell,
            operation,
            str(verdict.n_before),
            str(verdict.n_after),
            f"{verdict.median_before_s:.3f}",
            f"{verdict.median_after_s:.3f}",
            f"{verdict.ratio:.3f}",
            _interval(verdict.interval),
            "-" if verdict.p_adjusted is None else f"{verdict.p_adjusted:.4f}",
            verdict.label,
        )
    return table


def _interval(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"
