"""Print the histograms and series of attempts as a table, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from storebench.errors import SpecError, unknown
from storebench.results.database import Row
from storebench.results.listing import Column, print_listing
from storebench.results.measurements import metrics_of
from storebench.results.queries import Queries, counts, superseded
from storebench.results.table import places_of
from storebench.results.units import column
from storebench.study.cell import Cell
from storebench.study.histogram import curve, merged

PERCENTILES = (50, 90, 99, 99.9, 100)  # the percentiles in a table; CSV and JSON have all values
KINDS = {"histogram": "counts", "series": "at_s"}  # a key that only the content of this kind has


def artifacts_of(queries: Queries, rows: Sequence[Row], kind: str, metric: str) -> list[Row]:
    """Return the attempts that count and have the metric, with its `content` and unit. `kind`: "histogram" or "series".

    `rows`: rows of `results`. The newest try of each operation counts. Raises SpecError if no study of the rows has such a metric.
    """
    of_study = {name: metrics_of(queries.study(name)) for name in {row["study"] for row in rows}}
    known = sorted({one.name for found in of_study.values() for one in found.values() if one.kind == kind})
    if metric not in known:
        if not known:
            raise SpecError(f"There is no {kind} in these results: their studies have none")
        raise unknown(kind, metric, known)
    old = superseded(rows)
    fit = [row for row in rows if counts(row) and not row["warm_up"] and row["attempt_id"] not in old]
    found = queries.artifacts([row["attempt_id"] for row in fit])
    contents = {one["attempt_id"]: one["content"] for one in found if one["name"] == metric}
    return [
        {
            **row,
            "content": contents[row["attempt_id"]],
            "unit": of_study[row["study"]][metric].unit,
        }
        for row in fit
        if KINDS[kind] in contents.get(row["attempt_id"], {})
    ]


def histogram_lines(found: Sequence[Row]) -> list[dict[str, Any]]:
    """Merge the histograms of each cell's operation. Each line has the number of attempts, `values`, `counts`, and percentiles."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in found:
        groups.setdefault((row["cell_key"], row["operation"]), []).append(row)
    lines = []
    for (cell, operation), rows in groups.items():
        contents = [row["content"] for row in rows]
        together = merged(contents)
        lines.append(
            {
                "cell_key": cell,
                "operation": operation,
                "unit": rows[0]["unit"],
                "attempts": len(rows),
                "count": sum(count for _, count in together),
                "percentiles": [list(point) for point in curve(contents)],
                "values": [value for value, _ in together],
                "counts": [count for _, count in together],
            }
        )
    return lines


def percentile(line: dict[str, Any], percent: float) -> float | None:
    """Return the least value that `percent` percent of all values do not exceed; None without values."""
    seen, needed = 0, line["count"] * percent / 100
    for value, count in zip(line["values"], line["counts"], strict=True):
        seen += count
        if seen >= needed:
            return float(value)
    return None


def series_lines(found: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a line for each attempt with its series: `at_s`, seconds since the operation began, and `values`."""
    names = ("cell_key", "operation", "repeat", "run", "unit")
    return [{**{name: row[name] for name in names}, **row["content"]} for row in found]


def print_histograms(console: Console, lines: Sequence[dict[str, Any]]) -> None:
    """Print a line for each cell's operation, with some percentiles."""
    names, places = places_of(Cell.from_key(line["cell_key"]) for line in lines)
    columns = [Column("operation"), Column("attempts", number=True), Column("count", number=True)]
    columns += [Column("max" if one == 100 else f"p{one:g}", number=True) for one in PERCENTILES]
    units = [line["unit"] for line in lines]
    figures = [column([percentile(line, one) for line in lines], units) for one in PERCENTILES]
    print_listing(
        console,
        [*names, *columns],
        [
            (
                *place,
                line["operation"],
                str(line["attempts"]),
                f"{line['count']:,}",
                *texts,
            )
            for place, line, *texts in zip(places, lines, *figures, strict=True)
        ],
    )


def print_series(console: Console, lines: Sequence[dict[str, Any]]) -> None:
    """Print a line for each point of each attempt."""
    points = [(line, at_s, value) for line in lines for at_s, value in zip(*_points(line), strict=True)]
    names, places = places_of(Cell.from_key(line["cell_key"]) for line, _, _ in points)
    columns = [Column("operation"), Column("repeat"), Column("at s", number=True)]
    figures = column([value for _, _, value in points], [line["unit"] for line, _, _ in points])
    print_listing(
        console,
        [*names, *columns, Column("value", number=True)],
        [
            (*place, line["operation"], str(line["repeat"]), f"{at_s:g}", text)
            for place, (line, at_s, _), text in zip(places, points, figures, strict=True)
        ],
    )


def histograms_csv(lines: Sequence[dict[str, Any]]) -> str:
    """Return CSV with a line for each value of each cell's operation, with its count."""
    names = ("cell_key", "operation", "unit", "attempts")
    rows = (
        (*(line[name] for name in names), value, count)
        for line in lines
        for value, count in zip(line["values"], line["counts"], strict=True)
    )
    return _csv((*names, "value", "count"), rows)


def series_csv(lines: Sequence[dict[str, Any]]) -> str:
    """Return CSV with a line for each point of each attempt."""
    names = ("cell_key", "operation", "repeat", "run", "unit")
    rows = (
        (*(line[name] for name in names), at_s, value)
        for line in lines
        for at_s, value in zip(*_points(line), strict=True)
    )
    return _csv((*names, "at_s", "value"), rows)


def as_json(lines: Sequence[dict[str, Any]]) -> str:
    """Return the lines as a JSON list of objects."""
    return json.dumps(lines, indent=2) + "\n"


def _points(line: dict[str, Any]) -> tuple[Sequence[float], Sequence[float]]:
    return line["at_s"], line["values"]


def _csv(names: Sequence[str], rows: Any) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue()
