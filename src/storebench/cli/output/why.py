"""Print what goes along with the verdicts of a comparison."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from storebench.answers.units import compared, ratio_text
from storebench.results.comparison.compare import Comparison
from storebench.results.comparison.sides import Key
from storebench.results.comparison.why import Figure, Why
from storebench.results.statistics.associations import Association

MOST_LINES = 5  # of a verdict, with its first line
MOST_SETTINGS = 3
LONGEST = 40  # letters of a setting's value


def print_why(console: Console, comparison: Comparison, found: Mapping[Key, Why], *, whole: bool) -> None:
    """Print a block for each verdict that tells its sides apart. `whole`: print all lines instead of MOST_LINES."""
    for key, why in found.items():
        cell, operation = key
        label = comparison.label_text(key, comparison.verdicts[key].label)
        lines, more = why_lines(why, comparison.design.units, whole=whole)
        rest = f" ({more} more with --why)" if more else ""
        console.print(
            f"[bold]{label}[/bold]: {operation} {cell}".rstrip() + f" goes along with{rest}:", soft_wrap=True
        )
        for line in lines:
            console.print(f"  {line}", soft_wrap=True, markup=False)


def why_lines(why: Why, units: str, *, whole: bool) -> tuple[list[str], int]:
    """Return the lines about a verdict, and the number of settings and figures without a line. `units`: plural name of the unit."""
    settings = [f"{one.name}: {_side(one.before)} -> {_side(one.after)}" for one in why.differences]
    figures = [_figure(figure, one) for figure, one in why.figures.items()]
    few = f"; {why.too_few} more have too few {units}" if why.too_few else ""
    tested = sum(one.seen_in is None for one in why.figures.values())
    counted = f"{tested} of {why.looked_at} figures that vary differ{few}"
    if whole:
        return [*(f"differs: {text}" for text in settings), *figures, counted], 0
    shown_settings = settings[:MOST_SETTINGS]
    first = [f"differs: {'; '.join(shown_settings)}"] if settings else []
    shown = figures[: MOST_LINES - 1 - len(first)]
    lines = [*first, *(shown or [counted])]
    return lines, len(settings) - len(shown_settings) + len(figures) - len(shown)


def _figure(figure: Figure, one: Association) -> str:
    write = compared(figure.unit, [one.median_before, one.median_after]).text
    parts = [f"{write(one.median_before)} -> {write(one.median_after)}"]
    if one.ratio is not None and one.interval is not None:
        low, high = ratio_text(one.interval.low), ratio_text(one.interval.high)
        parts.append(f"B / A {ratio_text(one.ratio)} ({low} to {high})")
    if one.share is not None:
        parts.append(f"covers {one.share:.0%} of the difference")
    if one.seen_in is not None:
        parts.append(f"seen in {one.seen_in} profiles, without an interval")
    return f"{figure.kind} {figure.name}: {', '.join(parts)}"


def _side(values: tuple[str, ...]) -> str:
    text = ", ".join(values)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
