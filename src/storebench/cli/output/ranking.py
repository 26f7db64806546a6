"""Print a ranking as tables or CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console

from storebench.answers.rankings import BEST, Difference, Exclusion
from storebench.answers.rankings import Ranking as Answer
from storebench.answers.units import NOTHING, Figures, compared
from storebench.cli.output.listing import Column, csv_text, markdown, print_listing
from storebench.cli.output.table import places_of
from storebench.errors import unknown
from storebench.results.comparison.compare import label_text
from storebench.results.ranking.choice import ANY
from storebench.results.ranking.exclusion import Measured
from storebench.results.ranking.rank import Against, Line, Ranking, in_order
from storebench.results.statistics.intervals import CONFIDENCE, Summary
from storebench.results.statistics.verdicts import TEST
from storebench.study.record import StudyRecord
from storebench.study.reserved import CLIENT, STORE

FIGURE_HEADINGS = ("median", "interval", "n")
FIGURES = [Column(heading, number=True) for heading in FIGURE_HEADINGS]
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
            "differences": _texts(getattr(cell, "differences", ())),
            "remarks": "; ".join(getattr(cell, "remarks", ())) or None,
            "excluded": _texts(getattr(cell, "reasons", ())),
            "environment": answer.environment,
        }
        for cell in (*answer.ranked, *answer.excluded)
    ]


def _texts(reasons: Iterable[Difference | Exclusion]) -> str | None:
    """Return reasons with their texts, or None without reasons."""
    return "; ".join(f"{reason.reason}: {reason.text}" for reason in reasons) or None


def print_ranking(console: Console, ranking: Ranking) -> None:
    """Print the places, the excluded cells, and how to read the ranking."""
    for line in _heading(ranking):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if ranking.lines:
        _print_lines(console, ranking)
    else:
        console.print("nothing can be ranked")
    if ranking.excluded:
        _print_excluded(console, ranking)
    for line in _notes(ranking):
        console.print(line, soft_wrap=True, markup=False)


def as_markdown(ranking: Ranking) -> str:
    """Return the ranking as a Markdown table for a page: medians, intervals, verdicts, guarantees, what is unsound about the attempts, and a
    line about excluded cells.
    """
    names, places = _places([line.measured for line in ranking.lines], ranking.study)
    figures = _writer(ranking)
    headings = [
        "place",
        *(name.heading for name in names),
        *FIGURE_HEADINGS,
        "relative to the best",
        "verdict",
        GUARANTEE.heading,
        "unsound",
    ]
    rows = [
        [
            _place(line, ranking),
            *place,
            *_figures(line.summary, line.measured, figures)[:3],
            *_compared(line.against, ranking)[:2],
            line.measured.guarantee or NOTHING,
            "; ".join(line.unsound) or NOTHING,
        ]
        for place, line in zip(places, ranking.lines, strict=True)
    ]
    return markdown(*_without_empty(headings, rows)) + _excluded_sentence(ranking, figures)


def print_medians(console: Console, ranking: Ranking, name: str, format_: str) -> None:
    """Print the medians of all cells with a column for each value of `name`, then the axes that have only one value. `format_`: table, csv
    or markdown; csv has no line after the table.
    """
    headings, rows, shared = _across(ranking, name)
    if format_ == "table":
        print_listing(console, [Column(heading) for heading in headings], rows)
    else:
        write = csv_text if format_ == "csv" else markdown
        console.file.write(write(headings, rows))
    if shared and format_ != "csv":
        console.file.write(f"\nAxes with one value: {', '.join(shared)}.\n")


def _across(ranking: Ranking, name: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Return a table of medians with a column for each value of `name` (an axis, the store or the client): headings, lines, and the axes
    that are no columns, with their values. An axis is no column if all cells with the axis have the same value.

    The lines of ranked cells are in the order of their best medians. Cells that are not ranked follow. Raises SpecError if no cell has a
    value of `name`.
    """
    why = {cell.measured.cell: ", ".join(one.reason for one in cell.reasons) for cell in ranking.excluded}
    ranked = in_order((line.measured for line in ranking.lines), ranking.metric)
    cells = ranked + [cell.measured for cell in ranking.excluded]
    names, places = _places(cells, ranking.study)
    headings = [column.heading for column in names]
    if name not in headings:
        raise unknown("name of columns", name, headings)
    place_of_name, figures = headings.index(name), _writer(ranking)
    values = [list(dict.fromkeys(texts)) for texts in zip(*places, strict=True)]
    named = [[text for text in texts if text != NOTHING] for texts in values]
    others = [n for n in range(len(headings)) if n != place_of_name]
    varying = [n for n in others if headings[n] in (STORE, CLIENT) or len(named[n]) > 1]
    kept = varying if _are_distinct(places, [*varying, place_of_name]) else others
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for measured, place in zip(cells, places, strict=True):
        line = lines.setdefault(tuple(place[n] for n in kept), {})
        line[place[place_of_name]] = _median_text(measured, figures, why.get(measured.cell, NOTHING))
    across = _in_order(values[place_of_name], ranking.study, name)
    titles = [_title(name, value) for value in across]
    rows = [[*line, *(texts.get(value, NOTHING) for value in across)] for line, texts in lines.items()]
    shared = [f"{headings[n]} {named[n][0]}" for n in others if n not in kept and named[n]]
    return *_without_empty([*(headings[n] for n in kept), *titles], rows), shared


def _title(name: str, value: str) -> str:
    """Return the heading of the column for a value of `name`; for cells without the axis, the value is NOTHING."""
    if name in (STORE, CLIENT):
        return value
    return f"{name} does not apply" if value == NOTHING else f"{name} {value}"


def _are_distinct(places: Sequence[Sequence[str]], kept: Sequence[int]) -> bool:
    """Return whether the places differ in the columns with these numbers."""
    return len({tuple(place[n] for n in kept) for place in places}) == len(places)


def _in_order(values: Sequence[str], study: StudyRecord, name: str) -> list[str]:
    """Sort the values of `name`: numbers by size, then values in the order in which the study declares them, then other values."""
    declared = [value for axis in study.axes if axis.name == name for value in axis.grid]

    def key(value: str) -> tuple[int, float]:
        if value.isdecimal():
            return 0, float(value)
        return (1, declared.index(value)) if value in declared else (2, 0)

    return sorted(values, key=key)


def _median_text(measured: Measured, figures: Figures, why: str) -> str:
    """Return a median with its interval, or with the number of attempts if these are too few for an interval. Where all attempts have the
    same figure, return only this figure. Without a figure, return `why` the cell is not ranked.
    """
    if measured.summary is None:
        return why
    summary, interval = measured.summary, measured.summary.interval
    median = figures.text(summary.median)
    if interval is None:
        return f"{median} (n {summary.n})"
    return median if interval.low == interval.high else f"{median} ({_interval(summary, figures)})"


def _without_empty(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Return a table without the columns that have no text in any row."""
    kept = [n for n in range(len(headings)) if any(row[n] not in ("", NOTHING) for row in rows)]
    return [headings[n] for n in kept], [[row[n] for n in kept] for row in rows]


def _excluded_sentence(ranking: Ranking, figures: Figures) -> str:
    """Return a line with the excluded cells, their reasons and their medians; empty without such cells."""
    texts = []
    _, places = _places([cell.measured for cell in ranking.excluded], ranking.study)
    for cell, place in zip(ranking.excluded, places, strict=True):
        summary = cell.measured.summary
        median = f", {figures.text(summary.median)}" if summary else ""
        named = " ".join(text for text in place if text != NOTHING)
        texts.append(f"{named} ({'; '.join(exclusion.reason for exclusion in cell.reasons)}{median})")
    return f"\nNot ranked: {', '.join(texts)}.\n" if texts else ""


def _heading(ranking: Ranking) -> list[str]:
    question, metric = ranking.question, ranking.metric
    unit = f", {metric.unit}" if metric.unit else ""
    where = [f"rows {question.rows:,}, seed {question.seed}"]
    where += [f"{name} {'any' if value == ANY else value}" for name, value in question.axes.items()]
    where += [f"guarantee {question.guarantee}"] if question.guarantee else []
    lines = [
        f"{question.study}, {question.operation}: {metric.title} ({metric.name}{unit}), {metric.better} is better",
        "; ".join(where),
    ]
    for environment in ranking.environments:
        if environment.id == question.conditions:
            lines.append(f"environment {environment.id}: {environment.text}")
    return lines


def _print_lines(console: Console, ranking: Ranking) -> None:
    names, places = _places([line.measured for line in ranking.lines], ranking.study)
    figures = _writer(ranking)
    against = [
        Column("relative to the best", number=True),
        Column("verdict: it is"),
        Column("why not", prose=True, needed=False),
        Column("differs", prose=True, needed=False),
        Column("unsound", prose=True),
    ]
    print_listing(
        console,
        [Column("place", number=True), *names, *FIGURES, *against, GUARANTEE],
        [
            (
                _place(line, ranking),
                *place,
                *_figures(line.summary, line.measured, figures),
                *_compared(line.against, ranking),
                "; ".join(difference.text for difference in line.differences) or NOTHING,
                "; ".join(line.remarks) or NOTHING,
                line.measured.guarantee or NOTHING,
            )
            for place, line in zip(places, ranking.lines, strict=True)
        ],
    )


def _place(line: Line, ranking: Ranking) -> str:
    """Return the text of a place: `=1` if cells share the place."""
    shared = sum(other.place == line.place for other in ranking.lines) > 1
    return f"={line.place}" if shared else str(line.place)


def _compared(against: Against | None, ranking: Ranking) -> tuple[str, str, str]:
    if against is None:
        return "1", BEST, NOTHING
    times = NOTHING if against.relative_to_best is None else f"{against.relative_to_best:.3g}"
    return times, label_text(against.label, ranking.metric.unit), against.reason or NOTHING


def _print_excluded(console: Console, ranking: Ranking) -> None:
    cells = [cell.measured for cell in ranking.excluded]
    names, places = _places(cells, ranking.study)
    figures = _writer(ranking)
    print_listing(
        console,
        [*names, Column("reason"), Column("why", prose=True), *FIGURES],
        [
            (
                *place,
                ", ".join(exclusion.reason for exclusion in cell.reasons),
                "; ".join(exclusion.text for exclusion in cell.reasons),
                *_figures(cell.measured.summary, cell.measured, figures),
            )
            for place, cell in zip(places, ranking.excluded, strict=True)
        ],
        title="Excluded:",
    )


def _writer(ranking: Ranking) -> Figures:
    """Return the writer of a ranking's figures. All medians share a scale, including medians of excluded cells."""
    summaries = [line.summary for line in ranking.lines] + [
        cell.measured.summary for cell in ranking.excluded
    ]
    return compared(ranking.metric.unit, [summary.median for summary in summaries if summary])


def _figures(summary: Summary | None, measured: Measured, figures: Figures) -> tuple[str, str, str, str]:
    if summary is None:
        return NOTHING, NOTHING, "0", NOTHING
    return figures.text(summary.median), _interval(summary, figures), str(summary.n), str(len(measured.runs))


def _interval(summary: Summary, figures: Figures) -> str:
    interval = summary.interval
    return NOTHING if interval is None else figures.interval(interval.low, interval.high, summary.median)


def _places(measured_cells: Sequence[Measured], study: StudyRecord) -> tuple[list[Column], list[list[str]]]:
    """Return the columns in which the cells differ, and each cell's values. The heading has the dataset."""
    names, places = places_of((measured.cell for measured in measured_cells), {study.name: study})
    kept = [n for n, name in enumerate(names) if name.heading not in ("rows", "seed")]
    texts = [
        [_label(measured, study) if names[n].heading == STORE else place[n] for n in kept]
        for measured, place in zip(measured_cells, places, strict=True)
    ]
    return [names[n] for n in kept], texts


def _label(measured: Measured, study: StudyRecord) -> str:
    """Return the store of a cell, and the server that answered in place of the store's product."""
    return study.label_of(measured.cell.store, (row["server_name"] for row in measured.counted))


def _notes(ranking: Ranking) -> Iterable[str]:
    if len(ranking.environments) > 1:
        yield "Also measured in other environments; --environment ranks these results:"
        for environment in ranking.environments:
            if environment.id != ranking.question.conditions:
                yield f"  {environment.id}: {environment.text} ({_counted(environment.cells, 'cell')}, last on {environment.newest_at:%Y-%m-%d})"
    if len(ranking.guarantees) > 1:
        others = [text for text in ranking.guarantees if text != ranking.question.guarantee]
        what = (
            "only cells with"
            if ranking.question.guarantee is None
            else "cells with another delivery or durability, such as"
        )
        yield f"--guarantee ranks {what} {'; '.join(others)}"
    yield (
        "Medians of all runs in this environment, and their intervals of 95 % or more, from 6 attempts on. A cell that cannot be told apart from"
        f" the first cell of a place shares the place; verdicts are relative to the best cell (A). {TEST}; intervals of the ratio {CONFIDENCE:.0%}; a difference within"
        f" {ranking.question.margin:.0%} does not count"
    )
    if ranking.caution:
        yield ranking.caution


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
