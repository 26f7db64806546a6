"""Print the overview of a run: a line for each cell with its operations side by side, and a sentence for each store."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from rich.console import Console

from storebench.answers.units import column
from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.sentences import Larger, sentences, where_of
from storebench.cli.output.table import cautions, differing_columns, remark
from storebench.results.database.connection import Row
from storebench.results.database.measurements import metrics_of, scalars_of, value_of
from storebench.results.database.queries import counts
from storebench.results.forecast.fixed import FixedParts
from storebench.results.statistics.intervals import MIN_VALUES
from storebench.study.cell import Cell
from storebench.study.record import StudyRecord

SHOWN = 2  # the number of metrics of an operation to show: the ranking metric and the next
Figures = dict[
    Cell, dict[str, list[float]]
]  # by cell and operation: the ranking figures of the attempts that count


def print_overview(
    console: Console,
    rows: Sequence[Row],
    study: StudyRecord,
    fixed: FixedParts,
    larger: Larger | None = None,
) -> None:
    """Print the overview of a run.

    `rows`: the newest tries of its operations, without warm-ups. `fixed`: the known fixed parts of
    operations.
    """
    cells = sorted({Cell.from_key(row["cell_key"]) for row in rows}, key=_in_order)
    tries: dict[Cell, list[Row]] = {cell: [] for cell in cells}
    for row in rows:
        tries[Cell.from_key(row["cell_key"])].append(row)
    tried, metrics = {row["operation"] for row in rows}, metrics_of(study)
    operations = [record.name for record in study.operations if record.name in tried]
    shown = [
        (operation, place, metrics[name])
        for operation in operations
        for place, name in enumerate(_shown(study, operation))
    ]
    names, places, alike = differing_columns(cells)
    columns = [
        Column(f"{operation} {metric.name}", number=True, needed=place == 0)
        for operation, place, metric in shown
    ]
    figures = [
        column(
            [_median(_values(tries[cell], operation, metric.name)) for cell in cells],
            [metric.unit] * len(cells),
        )
        for operation, _, metric in shown
    ]
    if alike:
        console.print(alike, markup=False, highlight=False)
    print_listing(
        console,
        [*names, *columns, Column("state", prose=True)],
        [
            (
                *place,
                *(texts[n] for texts in figures),
                _state(tries[cell]),
            )
            for n, (cell, place) in enumerate(zip(cells, places, strict=True))
        ],
    )
    where = where_of(cells)
    for row in rows:
        if not counts(row):
            cell = Cell.from_key(row["cell_key"])
            console.print(
                f"{row['operation']} {cell.store}{where[cell]}: {remark(row)}",
                soft_wrap=True,
                markup=False,
                highlight=False,
            )
    console.print()
    ranking: Figures = {
        cell: {name: _values(tries[cell], name, scalars_of(study, name)[0]) for name in operations}
        for cell in cells
    }
    for line in (*sentences(rows, operations, study, fixed, larger), *_cautions(rows, ranking)):
        console.print(line, markup=False, highlight=False)


def _shown(study: StudyRecord, operation: str) -> list[str]:
    reported = study.operation(operation).metrics
    return [name for name in scalars_of(study, operation) if name in reported][:SHOWN]


def _values(rows: Iterable[Row], operation: str, metric: str) -> list[float]:
    """Return the values of a metric of the attempts that count."""
    values = (value_of(row, metric) for row in rows if row["operation"] == operation and counts(row))
    return [value for value in values if value is not None]


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _state(rows: Iterable[Row]) -> str:
    """Return the state of operations: `verified`, or the states that occur."""
    others: dict[str, None] = {}
    for row in rows:
        if not counts(row):
            what = "disturbed" if row["status"] == "verified" else row["status"].replace("_", " ")
            others[f"{row['operation']} {what}"] = None
    return ", ".join(others) or "verified"


def _cautions(rows: Sequence[Row], figures: Figures) -> list[str]:
    """Return the cautions about the figures, each once."""
    lines = cautions(rows)
    for what in ("client", "service"):
        bound = sorted(
            {f"{row['store']} {row['operation']}" for row in rows if counts(row) and row[f"{what}_bound"]}
        )
        if bound:
            lines.append(f"Limited by the {what}, not by the store: {', '.join(bound)}.")
    most = max((len(values) for measured in figures.values() for values in measured.values()), default=0)
    if most == 1:
        lines.append("Each was measured once. One attempt has no interval: a small difference may be chance.")
    elif 1 < most < MIN_VALUES:
        lines.append(
            f"The figures are medians of at most {most} attempts. Fewer than {MIN_VALUES} have no interval: a small difference may be chance."
        )
    return lines


def _in_order(cell: Cell) -> tuple[object, ...]:
    """Return a sort key of a cell: store, client, then on each axis numbers before words."""
    places = [(not value.isdigit(), int(value) if value.isdigit() else 0, value) for _, value in cell.axes]
    return cell.store, cell.client, places
