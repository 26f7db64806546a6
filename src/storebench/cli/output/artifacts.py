"""Print histograms and series as tables or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from rich.console import Console

from storebench.answers.artifacts import Histogram, Series
from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.table import places_of
from storebench.cli.output.units import column
from storebench.study.cell import Cell

PERCENTILES = (50, 90, 99, 99.9, 100)  # the percentiles in a table; CSV and JSON have all values


def print_histograms(console: Console, found: Sequence[Histogram]) -> None:
    """Print a line for each cell's operation, with some percentiles."""
    names, places = places_of(Cell.from_key(one.cell_key) for one in found)
    columns = [Column("operation"), Column("n", number=True), Column("count", number=True)]
    columns += [Column("max" if percent == 100 else f"p{percent:g}", number=True) for percent in PERCENTILES]
    units = [one.unit for one in found]
    figures = [column([one.percentile(percent) for one in found], units) for percent in PERCENTILES]
    print_listing(
        console,
        [*names, *columns],
        [
            (*place, one.operation, str(one.n), f"{one.count:,}", *texts)
            for place, one, *texts in zip(places, found, *figures, strict=True)
        ],
    )


def print_series(console: Console, found: Sequence[Series]) -> None:
    """Print a line for each point of each attempt."""
    points = [(one, at_s, value) for one in found for at_s, value in zip(one.at_s, one.values, strict=True)]
    names, places = places_of(Cell.from_key(one.cell_key) for one, _, _ in points)
    columns = [Column("operation"), Column("repeat"), Column("at s", number=True)]
    figures = column([value for _, _, value in points], [one.unit for one, _, _ in points])
    print_listing(
        console,
        [*names, *columns, Column("value", number=True)],
        [
            (*place, one.operation, str(one.repeat), f"{at_s:g}", text)
            for place, (one, at_s, _), text in zip(places, points, figures, strict=True)
        ],
    )


def histograms_csv(found: Sequence[Histogram]) -> str:
    """Return CSV with a line for each value of each cell's operation, with its count."""
    names = ("cell_key", "operation", "metric", "unit", "n")
    rows = (
        (*(getattr(one, name) for name in names), value, count)
        for one in found
        for value, count in zip(one.values, one.counts, strict=True)
    )
    return _csv((*names, "value", "count"), rows)


def series_csv(found: Sequence[Series]) -> str:
    """Return CSV with a line for each point of each attempt."""
    names = ("cell_key", "operation", "metric", "unit", "run", "repeat")
    rows = (
        (*(getattr(one, name) for name in names), at_s, value)
        for one in found
        for at_s, value in zip(one.at_s, one.values, strict=True)
    )
    return _csv((*names, "at_s", "value"), rows)


def _csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue()
