"""Print a comparison as a table, and find its exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from rich.console import Console

from storebench.answers.units import NOTHING, compared, ratio_text
from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.table import Studies, places_of
from storebench.cli.output.why import print_why
from storebench.results.comparison.compare import Comparison
from storebench.results.comparison.sides import Key
from storebench.results.comparison.why import Why
from storebench.results.statistics.intervals import CONFIDENCE, Interval
from storebench.results.statistics.verdicts import TEST, Verdict, alike_share, noise_floor
from storebench.study.cell import Cell

VERDICT = [Column("operation"), Column("B / A", number=True), Column("interval"), Column("verdict: B is")]
VERDICT += [
    Column(heading, number=True, needed=False)
    for heading in ("n A", "n B", "median A", "median B", "p adjusted")
]
VERDICT += [Column("why not", prose=True)]
REGRESSION, COULD_NOT_SHOW = 1, 6  # exit codes
LEAST_CHANCE = 0.0001  # a smaller chance is printed as less than this
GOES_ON = (
    "the run {run} still goes on: compare again when it has ended (`storebench runs` says if it was stopped)"
)


def print_comparison(
    console: Console,
    comparison: Comparison,
    studies: Studies,
    why: Mapping[Key, Why] = MappingProxyType({}),
    *,
    noise: bool,
    whole: bool = False,
) -> None:
    """Print the verdicts, what goes along with them, the pairs without a verdict, and the sides' differences.

    `studies`: the records of the cells' studies. `noise`: also print the noise floor. `whole`: print all of what goes along with a verdict.
    """
    if comparison.verdicts:
        _print_verdicts(console, comparison, studies)
    print_why(console, comparison, why, whole=whole)
    for (cell, operation), remarks in comparison.remarks.items():
        if remarks:
            console.print(f"unsound: {operation} {cell}".rstrip() + f": {'; '.join(remarks)}", soft_wrap=True)
    for (cell, operation), reason in comparison.without.items():
        console.print(f"no verdict: {operation} {cell}".rstrip() + f": {reason}", soft_wrap=True)
    if comparison.differences:
        console.print("[bold]Not only that differs[/bold] (A -> B):")
        for line in comparison.differences:
            console.print(f"  {line}", soft_wrap=True, markup=False)
    for run in comparison.going_on:
        console.print(GOES_ON.format(run=run), soft_wrap=True, markup=False)
    counts = Counter(
        comparison.label_text(key, verdict.label) for key, verdict in comparison.verdicts.items()
    )
    console.print(
        f"{counts.total()} compared: "
        + (", ".join(f"{n} {label}" for label, n in counts.most_common()) or "nothing")
    )
    alike = [verdict for verdict in comparison.verdicts.values() if verdict.ratio is not None]
    if noise and alike:
        console.print(
            f"noise floor {noise_floor(alike):.1%}"
            f" (95 % of the ratios are nearer to 1); not told apart: {alike_share(alike):.0%}"
        )
    if comparison.design.caution:
        console.print(comparison.design.caution, soft_wrap=True)
    console.print(
        f"{TEST}; of the {comparison.design.units}{', pair by pair' if comparison.design.matched else ''}; intervals {CONFIDENCE:.0%}, of"
        f" the ratio of the geometric means; a difference within {comparison.margin * 100:g} % does not count",
        soft_wrap=True,
    )


def exit_code(comparison: Comparison, beyond: float, *, single_runs: bool = False) -> tuple[int, list[str]]:
    """Return the exit code and messages of a comparison that must show that no pair is worse by more than the share `beyond`.

    `single_runs`: accept single runs, although their verdicts leave drift open.
    """
    regressions = comparison.regressions(beyond)
    words = " or ".join(
        sorted({comparison.label_text(key, verdict.label) for key, verdict in regressions.items()})
    )
    worse = (
        [f"{len(regressions)} operations are {words} by more than {beyond * 100:g} %"] if regressions else []
    )
    if comparison.design.caution and not single_runs:
        return COULD_NOT_SHOW, [
            f"{comparison.design.caution}. With --single-runs a drift counts as a difference",
            *worse,
        ]
    if worse:
        return REGRESSION, worse
    hidden = [
        f"could hide a change for the worse of {beyond * 100:g} %: {operation} {cell}".rstrip()
        + f": {reason}"
        for (cell, operation), reason in comparison.could_hide(beyond).items()
    ]
    hidden += [GOES_ON.format(run=run) for run in comparison.going_on]
    if not comparison.verdicts:
        hidden.append("nothing could be compared")
    return (COULD_NOT_SHOW, hidden) if hidden else (0, [])


def _print_verdicts(console: Console, comparison: Comparison, studies: Studies) -> None:
    keys = [cell for cell, _ in comparison.verdicts]
    # For two cells, only the operations differ
    names, places = places_of(map(Cell.from_key, keys), studies) if all(keys) else ([], [[] for _ in keys])
    print_listing(
        console,
        [*names, *VERDICT],
        [
            (
                *place,
                operation,
                NOTHING if verdict.ratio is None else ratio_text(verdict.ratio),
                _interval(verdict.interval),
                comparison.label_text((cell, operation), verdict.label),
                *_counts(verdict, comparison.design.units),
                *map(sides.text, medians),
                _chance(verdict.p_adjusted),
                verdict.reason or NOTHING,
            )
            for place, ((cell, operation), verdict) in zip(places, comparison.verdicts.items(), strict=True)
            for medians in [(verdict.median_before, verdict.median_after)]
            for sides in [compared(comparison.measured[cell, operation]["unit"], medians)]
        ],
    )


def _interval(interval: Interval | None) -> str:
    return NOTHING if interval is None else f"{ratio_text(interval.low)} to {ratio_text(interval.high)}"


def _chance(p: float | None) -> str:
    """Format a probability, which is never 0."""
    if p is None:
        return NOTHING
    return "< 0.0001" if p < LEAST_CHANCE else f"{p:.4f}"


def _counts(verdict: Verdict, units: str) -> tuple[str, str]:
    """Format the number of repeats on each side, and the number of units if a unit has several repeats."""
    before, after = (
        str(n) if n == count else f"{n} in {count} {units}"
        for n, count in (
            (verdict.n_before, verdict.units_before),
            (verdict.n_after, verdict.units_after),
        )
    )
    return before, after
