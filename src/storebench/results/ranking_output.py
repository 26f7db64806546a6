"""Print a ranking as tables, JSON, or CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console

from storebench.results.compare import in_words
from storebench.results.listing import NOTHING, Column, print_listing
from storebench.results.ranking import Against, Line, Ranking
from storebench.results.ranking_apart import Measured
from storebench.results.ranking_choice import ANY
from storebench.results.statistics import CONFIDENCE, Summary
from storebench.results.table import places_of
from storebench.results.units import Figures, compared
from storebench.results.verdicts import TEST

BEST = "the best"
FIGURES = [Column("median", number=True), Column("interval", number=True), Column("n", number=True)]
FIGURES += [Column("runs", number=True, needed=False)]
KIND = Column("delivers or guarantees", needed=False)


def rows_of(found: Ranking) -> list[dict[str, Any]]:
    """Return a row for each cell: ranked cells by place, then excluded cells with the place None and the reasons."""
    ranked = [
        {
            **_cell(found, line.measured),
            "place": line.place,
            **_measured(line.measured),
            **_told(line, found),
            "unsound": "; ".join(line.remarks) or None,
            "left_out": None,
        }
        for line in found.lines
    ]
    others = [
        {
            **_cell(found, one.measured),
            "place": None,
            **_measured(one.measured),
            **_NOT_TOLD,
            "unsound": None,
            "left_out": "; ".join(f"{why.reason}: {why.text}" for why in one.reasons),
        }
        for one in found.left_out
    ]
    return [*ranked, *others]


def _cell(found: Ranking, one: Measured) -> dict[str, Any]:
    cell = one.cell
    return {
        "cell": cell.key,
        "store": cell.store,
        "client": cell.client,
        **{name: cell.value(name) for name in found.chosen.axes},
        "rows": cell.rows,
        "seed": cell.seed,
        "operation": found.question.operation,
        "metric": found.metric.name,
        "unit": found.metric.unit,
    }


def _measured(one: Measured) -> dict[str, Any]:
    took = one.took
    interval = took.interval if took else None
    return {
        "median": took.median if took else None,
        "interval_low": interval.low if interval else None,
        "interval_high": interval.high if interval else None,
        "interval_coverage": interval.coverage if interval else None,
        "n": took.n if took else 0,
        "runs": len(one.runs),
        "delivers_or_promises": one.kind,
    }


_NOT_TOLD = dict.fromkeys(("times_the_best", "verdict", "why_not", "ratio", "ratio_low", "ratio_high"))


def _told(line: Line, found: Ranking) -> dict[str, Any]:
    against = line.against
    if against is None:
        return {**_NOT_TOLD, "times_the_best": 1.0, "verdict": BEST}
    verdict = against.verdict
    interval = verdict.interval if verdict else None
    return {
        "times_the_best": against.times,
        "verdict": in_words(against.label, found.metric.unit),
        "why_not": against.reason,
        "ratio": verdict.ratio if verdict else None,
        "ratio_low": interval.low if interval else None,
        "ratio_high": interval.high if interval else None,
    }


def as_json(found: Ranking) -> str:
    """Return the question, and a row for each cell, as one JSON object."""
    question = found.question
    content = {
        "study": question.study,
        "operation": question.operation,
        "metric": {name: getattr(found.metric, name) for name in ("name", "title", "unit", "better")},
        "rows": question.rows,
        "seed": question.seed,
        "axes": dict(question.axes),
        "environment": question.conditions,
        "kind": question.kind,
        "included": sorted(question.included),
        "cells": rows_of(found),
        "environments": [{**vars(one), "newest_at": one.newest_at.isoformat()} for one in found.environments],
        "margin_percent": round(question.margin * 100, 6),
        "test": TEST,
        "caution": found.caution,
    }
    return json.dumps(content, indent=2) + "\n"


def print_ranking(console: Console, found: Ranking) -> None:
    """Print the places, the excluded cells, and how to read the ranking."""
    for line in _heading(found):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if found.lines:
        _print_lines(console, found)
    else:
        console.print("nothing can be ranked")
    if found.left_out:
        _print_left_out(console, found)
    for line in _notes(found):
        console.print(line, soft_wrap=True, markup=False)


def _heading(found: Ranking) -> list[str]:
    question, metric = found.question, found.metric
    unit = f", {metric.unit}" if metric.unit else ""
    where = [f"rows {question.rows:,}, seed {question.seed}"]
    where += [f"{name} {'any' if value == ANY else value}" for name, value in question.axes.items()]
    where += [f"delivers or guarantees {question.kind}"] if question.kind else []
    lines = [
        f"{question.study}, {question.operation}: {metric.title} ({metric.name}{unit}), {metric.better} is better",
        "; ".join(where),
    ]
    for environment in found.environments:
        if environment.id == question.conditions:
            lines.append(f"environment {environment.id}: {environment.text}")
    return lines


def _print_lines(console: Console, found: Ranking) -> None:
    names, places = _places([line.measured for line in found.lines])
    better, figures = found.metric.better, _writer(found)
    against = [
        Column("times the best" if better == "lower" else "times below the best", number=True),
        Column("verdict: it is"),
        Column("why not", prose=True, needed=False),
        Column("unsound", prose=True),
    ]
    print_listing(
        console,
        [Column("place", number=True), *names, *FIGURES, *against, KIND],
        [
            (
                str(line.place),
                *place,
                *_figures(line.took, line.measured, figures),
                *_compared(line.against, found),
                "; ".join(line.remarks) or NOTHING,
                line.measured.kind or NOTHING,
            )
            for place, line in zip(places, found.lines, strict=True)
        ],
    )


def _compared(against: Against | None, found: Ranking) -> tuple[str, str, str]:
    if against is None:
        return "1", BEST, NOTHING
    times = NOTHING if against.times is None else f"{against.times:.3g}"
    return times, in_words(against.label, found.metric.unit), against.reason or NOTHING


def _print_left_out(console: Console, found: Ranking) -> None:
    some = [one.measured for one in found.left_out]
    names, places = _places(some)
    figures = _writer(found)
    print_listing(
        console,
        [*names, Column("reason"), Column("why", prose=True), *FIGURES],
        [
            (
                *place,
                ", ".join(why.reason for why in one.reasons),
                "; ".join(why.text for why in one.reasons),
                *_figures(one.measured.took, one.measured, figures),
            )
            for place, one in zip(places, found.left_out, strict=True)
        ],
        title="Excluded:",
    )


def _writer(found: Ranking) -> Figures:
    """Return the writer of a ranking's figures. All medians share a scale, including medians of excluded cells."""
    some = [line.took for line in found.lines] + [one.measured.took for one in found.left_out]
    return compared(found.metric.unit, [took.median for took in some if took])


def _figures(took: Summary | None, one: Measured, figures: Figures) -> tuple[str, str, str, str]:
    if took is None:
        return NOTHING, NOTHING, "0", NOTHING
    return figures.text(took.median), _interval(took, figures), str(took.n), str(len(one.runs))


def _interval(took: Summary, figures: Figures) -> str:
    interval = took.interval
    return NOTHING if interval is None else figures.interval(interval.low, interval.high, took.median)


def _places(some: Sequence[Measured]) -> tuple[list[Column], list[list[str]]]:
    """Return the columns in which the cells differ, and each cell's values. The heading has the dataset."""
    names, places = places_of(one.cell for one in some)
    kept = [n for n, name in enumerate(names) if name.heading not in ("rows", "seed")]
    return [names[n] for n in kept], [[place[n] for n in kept] for place in places]


def _notes(found: Ranking) -> Iterable[str]:
    if len(found.environments) > 1:
        yield "Also measured in other environments; --environment ranks these results:"
        for one in found.environments:
            if one.id != found.question.conditions:
                yield f"  {one.id}: {one.text} ({_counted(one.cells, 'cell')}, last on {one.newest_at:%Y-%m-%d})"
    if len(found.kinds) > 1:
        others = [kind for kind in found.kinds if kind != found.question.kind]
        yield f"--kind ranks cells with another delivery or durability: {'; '.join(others)}"
    yield (
        "Medians of all runs in this environment, and their intervals of 95 % or more, from 6 attempts on. A cell that cannot be told apart from"
        f" the first cell of a place shares the place; verdicts are relative to the best cell (A). {TEST}; intervals of the ratio {CONFIDENCE:.0%}; a difference within"
        f" {found.question.margin:.0%} does not count"
    )
    if found.caution:
        yield found.caution


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
