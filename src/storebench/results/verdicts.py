"""Prints a comparison: a table to read, or JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from rich.console import Console

from storebench.grid import Cell
from storebench.results.compare import Comparison
from storebench.results.difference import TEST, Verdict, alike_share, noise_floor
from storebench.results.listing import NOTHING, Column, print_listing
from storebench.results.statistics import CONFIDENCE, Interval
from storebench.results.table import places_of

VERDICT = [Column("operation"), Column("B / A", number=True), Column("interval"), Column("verdict: B is")]
VERDICT += [
    Column(heading, number=True, needed=False)
    for heading in ("n A", "n B", "median A, s", "median B, s", "p adjusted")
]
VERDICT += [Column("why not", prose=True)]
REGRESSION, COULD_NOT_SHOW = 1, 6  # exit codes


def print_comparison(console: Console, found: Comparison, margin_percent: float, *, noise: bool) -> None:
    """The verdicts, what has none, and what differs beside what was compared; `noise` adds the noise floor."""
    if found.verdicts:
        _print_verdicts(console, found)
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
            f" (95 % of the ratios are nearer to 1); not told apart: {alike_share(alike):.0%}"
        )
    if found.design.caution:
        console.print(found.design.caution, soft_wrap=True)
    console.print(
        f"{TEST}; of the {found.design.units}{', pair by pair' if found.design.matched else ''}; intervals {CONFIDENCE:.0%}, of"
        f" the ratio of the geometric means; a difference within {margin_percent:g} % does not count",
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
    content = {
        "verdicts": lines,
        "without": without,
        "differences": found.differences,
        "test": TEST,
        "units": found.design.units,
        "matched": found.design.matched,
        "caution": found.design.caution,
    }
    return json.dumps(content, indent=2)


def exit_code(found: Comparison, beyond: float) -> tuple[int, list[str]]:
    """That of a comparison which must show that nothing is slower by more than this share, and what is to be said of it."""
    if slower := found.regressions(beyond):
        return REGRESSION, [f"{len(slower)} operations are slower by more than {beyond * 100:g} %"]
    hidden = [
        f"could hide a slowdown of {beyond * 100:g} %: {operation} {cell}".rstrip() + f": {why}"
        for (cell, operation), why in found.could_hide(beyond).items()
    ]
    if not found.verdicts:
        hidden.append("nothing could be compared")
    return (COULD_NOT_SHOW, hidden) if hidden else (0, [])


def _print_verdicts(console: Console, found: Comparison) -> None:
    keys = [cell for cell, _ in found.verdicts]
    # Of two cells only the operations are told apart
    names, places = places_of(map(Cell.from_key, keys)) if all(keys) else ([], [[] for _ in keys])
    print_listing(
        console,
        [*names, *VERDICT],
        [
            (
                *place,
                operation,
                f"{verdict.ratio:.3f}",
                _interval(verdict.interval),
                verdict.label,
                *_counts(verdict, found.design.units),
                f"{verdict.median_before_s:.3f}",
                f"{verdict.median_after_s:.3f}",
                NOTHING if verdict.p_adjusted is None else f"{verdict.p_adjusted:.4f}",
                verdict.reason or NOTHING,
            )
            for place, ((_, operation), verdict) in zip(places, found.verdicts.items(), strict=True)
        ],
    )


def _interval(interval: Interval | None) -> str:
    return NOTHING if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"


def _counts(verdict: Verdict, units: str) -> tuple[str, str]:
    """How many repeats each side has, and in how many units where a unit has several."""
    before, after = (
        str(n) if n == count else f"{n} in {count} {units}"
        for n, count in (
            (verdict.n_before, verdict.units_before),
            (verdict.n_after, verdict.units_after),
        )
    )
    return before, after
