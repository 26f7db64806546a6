"""Print the overview of a run: a table of its operations, the best first, the study's tables, and at most five sentences."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from rich.console import Console

from storebench.answers.units import NOTHING, column
from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.sentences import (
    Figure,
    Larger,
    figures_of,
    sentences,
    times_the_best,
    workload_order,
)
from storebench.cli.output.table import differing_columns
from storebench.cli.output.tables import print_tables
from storebench.results.database.connection import Row
from storebench.results.database.measurements import guarantee_of, metrics_of, scalars_of, value_of
from storebench.results.database.queries import counts
from storebench.results.forecast.fixed import FixedParts
from storebench.study.cell import Cell
from storebench.study.record import StudyRecord

SHOWN = 2  # the number of metrics of an operation to show: the ranking metric and the next
DIGITS = 3  # significant digits of a ratio


def print_overview(
    console: Console,
    rows: Sequence[Row],
    study: StudyRecord,
    fixed: FixedParts,
    larger: Larger | None = None,
    results: str = "storebench results",
    ranking: str = "storebench ranking",
) -> None:
    """Print the overview of a run.

    `rows`: the newest tries of its operations, without warm-ups. `fixed`: the known fixed parts of operations. `results`, `ranking`: the
    commands that list the run's attempts and its ranking.
    """
    tried = {row["operation"] for row in rows}
    operations = [record.name for record in study.operations if record.name in tried]
    figures = figures_of(rows, operations, study, fixed)
    _print_table(console, rows, figures, operations, study)
    print_tables(console, rows, study)
    console.print()
    for line in sentences(rows, figures, study, larger, results, ranking):
        console.print(line, markup=False, highlight=False)


def _print_table(
    console: Console,
    rows: Sequence[Row],
    figures: Sequence[Figure],
    operations: Sequence[str],
    study: StudyRecord,
) -> None:
    """Print a line for each operation of a cell: by operation and workload, then the best first, floors and cells without figures last."""
    tries: dict[tuple[Cell, str], list[Row]] = {}
    for row in rows:
        tries.setdefault((Cell.from_key(row["cell_key"]), row["operation"]), []).append(row)
    lines = _sorted(tries, figures, operations, study)
    names, places, alike = differing_columns((cell for cell, _ in lines), {study.name: study})
    metrics, shown = metrics_of(study), {name: _shown(study, name) for name in operations}
    ranking = [metrics[shown[operation][0]] for _, operation in lines]
    seconds = [metrics[shown[operation][-1]] for _, operation in lines]
    one_metric, one_second = (len({metric.name for metric in used}) == 1 for used in (ranking, seconds))
    ratios, floors = times_the_best(figures), {figure.cell for figure in figures if figure.floor}
    values, second_values = (
        column(
            [_median(tries[line], metric.name) for line, metric in zip(lines, used, strict=True)],
            [metric.unit for metric in used],
        )
        for used in (ranking, seconds)
    )
    if alike:
        console.print(alike, markup=False, highlight=False)
    print_listing(
        console,
        [
            Column("operation"),
            *names,
            Column(ranking[0].name if one_metric else "figure", number=True),
            *([] if one_metric else [Column("metric", needed=False)]),
            Column("times the best", number=True),
            Column(seconds[0].name if one_second else "next figure", number=True, needed=False),
            Column("guarantee", needed=False),
            Column("state", prose=True),
        ],
        [
            (
                line[1],
                *place,
                values[n],
                *([] if one_metric else [ranking[n].name]),
                f"{ratios[line]:.{DIGITS}g}" if line in ratios else NOTHING,
                second_values[n] if one_second else f"{seconds[n].name} {second_values[n]}",
                guarantee_of(tries[line]) or NOTHING,
                _state(tries[line], floor=line[0] in floors),
            )
            for n, (line, place) in enumerate(zip(lines, places, strict=True))
        ],
    )


def _sorted(
    tries: dict[tuple[Cell, str], list[Row]],
    figures: Sequence[Figure],
    operations: Sequence[str],
    study: StudyRecord,
) -> list[tuple[Cell, str]]:
    """Return the cells and operations in the order of the table."""
    place = {(figure.cell, figure.operation): n for n, figure in enumerate(figures)}

    def key(line: tuple[Cell, str]) -> tuple[int, list[int], int, str]:
        cell, operation = line
        axes = {axis.name for axis in study.axes if axis.workload}
        workload = tuple((name, value) for name, value in cell.axes if name in axes)
        position = place.get(line, len(place))
        return operations.index(operation), workload_order(workload, study.axes), position, cell.key

    return sorted(tries, key=key)


def _shown(study: StudyRecord, operation: str) -> list[str]:
    reported = study.operation(operation).metrics
    return [name for name in scalars_of(study, operation) if name in reported][:SHOWN]


def _median(rows: Sequence[Row], metric: str) -> float | None:
    """Return the median of a metric of the attempts that count; None without such an attempt."""
    values = [value for row in rows if counts(row) and (value := value_of(row, metric)) is not None]
    return statistics.median(values) if values else None


def _state(rows: Sequence[Row], *, floor: bool) -> str:
    """Return the state of a cell's operation: `verified`, or the states that occur."""
    states: dict[str, int] = {}
    for row in rows:
        state = "disturbed" if row["status"] == "verified" and not counts(row) else row["status"]
        states[state.replace("_", " ")] = states.get(state.replace("_", " "), 0) + 1
    text = (
        next(iter(states)) if len(states) == 1 else ", ".join(f"{n} {state}" for state, n in states.items())
    )
    return f"{text}, floor" if floor else text
