"""Print histograms and series as tables or CSV."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from storebench.answers.artifacts import AttemptSeries, Histogram
from storebench.answers.units import column
from storebench.cli.output.listing import Column, csv_text, print_listing
from storebench.cli.output.table import Studies, places_of
from storebench.study.cell import Cell

PERCENTILES = (50, 90, 99, 99.9, 100)  # the percentiles in a table; CSV and JSON have all values


def print_histograms(console: Console, histograms: Sequence[Histogram], studies: Studies) -> None:
    """Print a line for each cell's operation, with some percentiles."""
    names, places = places_of((Cell.from_key(histogram.cell_key) for histogram in histograms), studies)
    columns = [Column("operation"), Column("n", number=True), Column("count", number=True)]
    columns += [Column("max" if percent == 100 else f"p{percent:g}", number=True) for percent in PERCENTILES]
    units = [histogram.unit for histogram in histograms]
    figures = [
        column([histogram.percentile(percent) for histogram in histograms], units) for percent in PERCENTILES
    ]
    print_listing(
        console,
        [*names, *columns],
        [
            (*place, histogram.operation, str(histogram.n), f"{histogram.count:,}", *texts)
            for place, histogram, *texts in zip(places, histograms, *figures, strict=True)
        ],
    )


def print_series(console: Console, attempts: Sequence[AttemptSeries], studies: Studies) -> None:
    """Print a line for each point of each attempt."""
    points = [
        (attempt, at_s, value)
        for attempt in attempts
        for at_s, value in zip(attempt.at_s, attempt.values, strict=True)
    ]
    names, places = places_of((Cell.from_key(attempt.cell_key) for attempt, _, _ in points), studies)
    columns = [Column("operation"), Column("repeat"), Column("at s", number=True)]
    figures = column([value for _, _, value in points], [attempt.unit for attempt, _, _ in points])
    print_listing(
        console,
        [*names, *columns, Column("value", number=True)],
        [
            (*place, attempt.operation, str(attempt.repeat), f"{at_s:g}", text)
            for place, (attempt, at_s, _), text in zip(places, points, figures, strict=True)
        ],
    )


def histograms_csv(histograms: Sequence[Histogram]) -> str:
    """Return CSV with a line for each value of each cell's operation, with its count."""
    names = ("cell_key", "operation", "metric", "unit", "n")
    rows = (
        (*(getattr(histogram, name) for name in names), value, count)
        for histogram in histograms
        for value, count in zip(histogram.values, histogram.counts, strict=True)
    )
    return csv_text((*names, "value", "count"), rows)


def series_csv(attempts: Sequence[AttemptSeries]) -> str:
    """Return CSV with a line for each point of each attempt."""
    names = ("cell_key", "operation", "metric", "unit", "run", "repeat")
    rows = (
        (*(getattr(attempt, name) for name in names), at_s, value)
        for attempt in attempts
        for at_s, value in zip(attempt.at_s, attempt.values, strict=True)
    )
    return csv_text((*names, "at_s", "value"), rows)
