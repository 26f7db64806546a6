"""Print the tables that a study declares: the medians of cells by the values of an axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from storebench.answers.figures import grouped
from storebench.answers.units import NOTHING, Figures, compared
from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.table import places_of, remark
from storebench.results.database.connection import Row
from storebench.results.database.measurements import metrics_of, value_of
from storebench.results.database.queries import broken_first, counts
from storebench.results.statistics.intervals import summarize
from storebench.study.cell import Cell
from storebench.study.model import Table
from storebench.study.record import StudyRecord
from storebench.study.reserved import CLIENT, STORE


def print_tables(console: Console, rows: Sequence[Row], study: StudyRecord) -> None:
    """Print the study's tables of a run, without tables that have no line. `rows`: the newest tries of its operations, without warm-ups."""
    for table in study.tables:
        if lines := _lines(table, rows, study):
            console.print()
            _print_table(console, table, lines, study)


def _lines(table: Table, rows: Sequence[Row], study: StudyRecord) -> list[list[Row]]:
    """Return the attempts of each line, by operation and cell: of cells that have the axis, and report any of the metrics or have no attempt
    that counts. No line if no cell differs from the value that the axis implies, such as a run without any fault.
    """
    implied = {axis.name: axis.implied for axis in study.axes}
    operations = [operation.name for operation in study.operations]
    lines = [
        group
        for group in grouped(rows)
        if table.axis in study.values_of(Cell.from_key(group[0]["cell_key"]))
        and (not table.operations or group[0]["operation"] in table.operations)
        and (any(_values(group, name) for name in table.metrics) or not any(map(counts, group)))
    ]
    if all(_value(group, table.axis, study) == implied[table.axis] for group in lines):
        return []
    return sorted(lines, key=lambda group: (operations.index(group[0]["operation"]), group[0]["cell_key"]))


def _value(group: Sequence[Row], axis: str, study: StudyRecord) -> str:
    return study.values_of(Cell.from_key(group[0]["cell_key"]))[axis]


def _values(rows: Sequence[Row], metric: str) -> list[float]:
    return [value for row in rows if counts(row) and (value := value_of(row, metric)) is not None]


def _print_table(console: Console, table: Table, lines: Sequence[Sequence[Row]], study: StudyRecord) -> None:
    metrics = metrics_of(study)
    cells = [Cell.from_key(group[0]["cell_key"]) for group in lines]
    names, places = places_of(cells, {study.name: study})
    kept = [
        n
        for n, name in enumerate(names)
        if name.heading in (STORE, CLIENT, table.axis) or len({place[n] for place in places}) > 1
    ]
    columns = [Column("operation"), *(names[n] for n in kept)]
    texts = []
    for name in table.metrics:
        medians = [summarize(values).median for group in lines if (values := _values(group, name))]
        figures = compared(metrics[name].unit, medians)
        texts.append([_median_text(group, name, figures) for group in lines])
    print_listing(
        console,
        [*columns, *(Column(name, prose=True) for name in table.metrics), Column("not counted", prose=True)],
        [
            (
                group[0]["operation"],
                *(place[n] for n in kept),
                *(column[line] for column in texts),
                _failures(group),
            )
            for line, (group, place) in enumerate(zip(lines, places, strict=True))
        ],
        title=f"{table.title}: medians with interval, number of attempts n, and range",
    )


def _median_text(rows: Sequence[Row], metric: str, figures: Figures) -> str:
    """Return a median with its interval, its number of attempts, and the range of their figures: a median can hide a single large figure."""
    values = _values(rows, metric)
    if not values:
        return NOTHING
    summary, counted = summarize(values), sum(map(counts, rows))
    interval = summary.interval
    parts = [
        f"interval {figures.interval(interval.low, interval.high, summary.median)}"
        if interval
        else "interval: cannot tell",
        # a figure that some attempts lack is the median of the others only
        f"n {summary.n} of {counted}" if summary.n < counted else f"n {summary.n}",
    ]
    if summary.min < summary.max:
        parts.append(f"all {figures.interval(summary.min, summary.max, summary.median)}")
    return f"{figures.text(summary.median)} ({', '.join(parts)})"


def _failures(rows: Sequence[Row]) -> str:
    """Return the reasons of the attempts that do not count, each once, with the number of its attempts; broken guarantees come first."""
    excluded = broken_first([row for row in rows if not counts(row)])
    reasons = Counter(f"{row['status'].replace('_', ' ')}: {remark(row)}" for row in excluded)
    return "; ".join(f"{n} {reason}" for reason, n in reasons.items()) or NOTHING
