"""Print a ranking as tables or CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console

from storebench.answers.rankings import BEST
from storebench.answers.rankings import Ranking as Answer
from storebench.cli.output.listing import NOTHING, Column, print_listing
from storebench.cli.output.table import places_of
from storebench.cli.output.units import Figures, compared
from storebench.results.comparison.compare import in_words
from storebench.results.ranking.choice import ANY
from storebench.results.ranking.exclusion import Measured
from storebench.results.ranking.rank import Against, Ranking
from storebench.results.statistics.intervals import CONFIDENCE, Summary
from storebench.results.statistics.verdicts import TEST

FIGURES = [Column("median", number=True), Column("interval", number=True), Column("n", number=True)]
FIGURES += [Column("runs", number=True, needed=False)]
GUARANTEE = Column("guarantee", needed=False)


def rows_of(answer: Answer) -> list[dict[str, Any]]:
    """Return a row for each cell, for CSV: ranked cells by place, then excluded cells with the place None and the reasons."""
    comparisons = ("place", "verdict", "reason", "relative_to_best", "ratio", "ratio_low", "ratio_high")
    spreads = ("n", "median", "interval_low", "interval_high", "interval_coverage")
    return [
        {
            "study": answer.study,
            "operation": answer.operation,
            "cell_key": cell.cell_key,
            "store": cell.store,
            "client": cell.client,
            **{name: cell.axes.get(name) for name in answer.axes},
            "rows": cell.rows,
            "seed": cell.seed,
            "metric": answer.metric,
            "unit": answer.unit,
            **{name: getattr(cell.spread, name, None) for name in spreads},
            "runs": cell.runs,
            **{name: getattr(cell, name, None) for name in comparisons},
            "guarantee": cell.guarantee,
            "remarks": "; ".join(getattr(cell, "remarks", ())) or None,
            "excluded": "; ".join(f"{why.reason}: {why.text}" for why in getattr(cell, "reasons", ()))
            or None,
            "environment": answer.environment,
        }
        for cell in (*answer.ranked, *answer.excluded)
    ]


def print_ranking(console: Console, found: Ranking) -> None:
    """Print the places, the excluded cells, and how to read the ranking."""
    for line in _heading(found):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if found.lines:
        _print_lines(console, found)
    else:
        console.print("nothing can be ranked")
    if found.excluded:
        _print_excluded(console, found)
    for line in _notes(found):
        console.print(line, soft_wrap=True, markup=False)


def _heading(found: Ranking) -> list[str]:
    question, metric = found.question, found.metric
    unit = f", {metric.unit}" if metric.unit else ""
    where = [f"rows {question.rows:,}, seed {question.seed}"]
    where += [f"{name} {'any' if value == ANY else value}" for name, value in question.axes.items()]
    where += [f"guarantee {question.guarantee}"] if question.guarantee else []
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
    figures = _writer(found)
    against = [
        Column("relative to the best", number=True),
        Column("verdict: it is"),
        Column("why not", prose=True, needed=False),
        Column("unsound", prose=True),
    ]
    print_listing(
        console,
        [Column("place", number=True), *names, *FIGURES, *against, GUARANTEE],
        [
            (
                str(line.place),
                *place,
                *_figures(line.took, line.measured, figures),
                *_compared(line.against, found),
                "; ".join(line.remarks) or NOTHING,
                line.measured.guarantee or NOTHING,
            )
            for place, line in zip(places, found.lines, strict=True)
        ],
    )


def _compared(against: Against | None, found: Ranking) -> tuple[str, str, str]:
    if against is None:
        return "1", BEST, NOTHING
    times = NOTHING if against.relative_to_best is None else f"{against.relative_to_best:.3g}"
    return times, in_words(against.label, found.metric.unit), against.reason or NOTHING


def _print_excluded(console: Console, found: Ranking) -> None:
    some = [one.measured for one in found.excluded]
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
            for place, one in zip(places, found.excluded, strict=True)
        ],
        title="Excluded:",
    )


def _writer(found: Ranking) -> Figures:
    """Return the writer of a ranking's figures. All medians share a scale, including medians of excluded cells."""
    some = [line.took for line in found.lines] + [one.measured.took for one in found.excluded]
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
    if len(found.guarantees) > 1:
        others = [text for text in found.guarantees if text != found.question.guarantee]
        yield f"--guarantee ranks cells with another delivery or durability: {'; '.join(others)}"
    yield (
        "Medians of all runs in this environment, and their intervals of 95 % or more, from 6 attempts on. A cell that cannot be told apart from"
        f" the first cell of a place shares the place; verdicts are relative to the best cell (A). {TEST}; intervals of the ratio {CONFIDENCE:.0%}; a difference within"
        f" {found.question.margin:.0%} does not count"
    )
    if found.caution:
        yield found.caution


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
