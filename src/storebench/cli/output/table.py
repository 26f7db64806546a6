"""Print results as a table, CSV or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console

from storebench.answers.units import NOTHING, column
from storebench.cli.output.listing import Column, print_listing
from storebench.results.database.queries import superseded
from storebench.study.cell import Cell
from storebench.study.model import unit_of
from storebench.study.record import StudyRecord

Rows = Sequence[Mapping[str, Any]]
Studies = Mapping[str, StudyRecord]  # the records of studies, by the study's name

DATASET = ("rows", "seed")  # columns after the axes
ATTEMPT = [Column("repeat"), Column("operation"), Column("status")]
# Columns for wide terminals only; the last column is omitted first.
FIGURES = [Column(heading, number=True, needed=False) for heading in ("memory", "CPU")]
FIGURES += [Column(heading, needed=False) for heading in ("durability", "server")]
POD = [Column(heading, number=True, needed=False) for heading in ("total", "pod", "memory peak")]
# The columns with remarks about an attempt that was measured, and their names in tables.
MARKS = {
    "disturbed": "disturbed",
    "perhaps_disturbed": "possibly disturbed",
    "not_judged": "not judged",
}
RUN = [Column("run"), Column("state"), Column("verified"), Column("not verified"), Column("started")]
RUN += [Column("study"), Column("stores", prose=True), Column("rows", number=True)]
RUN += [Column("reason", prose=True), Column("finished", needed=False)]


def print_results(console: Console, rows: Rows, studies: Studies) -> None:
    """Print a line for each attempt, with the columns that most users look at first. Each figure has its unit (`storebench.answers.units`).

    Memory and CPU include the pods that an attempt has started, and name their cover: a client without its server, or the engine itself.
    CSV, JSON and SQL have all other columns. `studies`: the records of the rows' studies.
    """
    names, places = places_of((Cell.from_key(row["cell_key"]) for row in rows), studies)
    ranking = {row["metric"] for row in rows}
    one_metric = len(ranking) == 1
    measured = [
        Column(str(next(iter(ranking))) if one_metric else "figure", number=True),
        *([] if one_metric else [Column("metric")]),
        Column("work total", number=True),
    ]
    others = _others(rows, studies)
    old = superseded(dict(row) for row in rows)
    value = column([row["value"] for row in rows], [row["unit"] for row in rows])
    work_total, cpu, total, pod = (
        _column(rows, name, "s") for name in ("work_total_s", "all_cpu_s", "total_s", "pod_total_s")
    )
    memory, peak = (
        _column(rows, name, "bytes")
        for name in ("all_memory_working_set_peak_bytes", "all_memory_peak_bytes")
    )
    other_texts = [
        column([row["metrics"].get(name) for row in rows], [unit_of(name)] * len(rows)) for name in others
    ]
    print_listing(
        console,
        [
            *names,
            *ATTEMPT,
            *measured,
            *FIGURES,
            *(Column(name, number=True, needed=False) for name in others),
            *POD,
            Column("remark", prose=True),
        ],
        [
            (
                *place,
                "warm-up" if row["warm_up"] else f"{row['repeat']} {row['arm'] or ''}".rstrip(),
                row["operation"],
                f"{row['status']}, superseded" if row["attempt_id"] in old else row["status"],
                value[n],
                *([] if one_metric else [row["metric"] or NOTHING]),
                work_total[n],
                f"{memory[n]} {row['figures_cover'] or ''}".rstrip(),
                cpu[n],
                row["durability"] or NOTHING,
                f"{row['server_name'] or ''} {row['server_version'] or ''}".strip() or NOTHING,
                *(texts[n] for texts in other_texts),
                total[n],
                pod[n],
                peak[n],
                remark(row) or NOTHING,
            )
            for n, (place, row) in enumerate(zip(places, rows, strict=True))
        ],
    )
    if old:
        console.print("superseded: a later try of the same operation counts instead", soft_wrap=True)
    for line in cautions(rows):
        console.print(line, soft_wrap=True)


def _column(rows: Rows, name: str, unit: str) -> list[str]:
    return column([row[name] for row in rows], [unit] * len(rows))


def _others(rows: Rows, studies: Studies) -> list[str]:
    """Return the metrics that do not rank the attempts, in the study's order, or by name for an unknown study; empty for several
    studies."""
    names = {row["study"] for row in rows}
    if len(names) != 1:
        return []
    (study,) = names
    ranking = {row["metric"] for row in rows}
    reported = {name for row in rows for name in row["metrics"]} - ranking
    order = [metric.name for metric in studies[study].metrics] if study in studies else sorted(reported)
    return [name for name in order if name in reported]


def places_of(cells: Iterable[Cell], studies: Studies) -> tuple[list[Column], list[list[str]]]:
    """Return a column for each value that a cell's key names, and each cell's texts in these columns.

    A cell whose key does not name an axis has the axis's implied value; NOTHING if the axis does not apply, or for an unknown study.
    """
    cells = list(cells)
    named: list[dict[str, str]] = [
        {
            "study": cell.study,
            "store": cell.store,
            "client": cell.client,
            **dict(cell.axes),
            "rows": f"{cell.rows:,}",
            "seed": str(cell.seed),
        }
        for cell in cells
    ]
    names = list(dict.fromkeys(name for values in named for name in values))
    names = [*(name for name in names if name not in DATASET), *DATASET]
    if len({values["study"] for values in named}) < 2:
        names = [name for name in names if name != "study"]
    places = []
    for cell, values in zip(cells, named, strict=True):
        study = studies.get(cell.study)
        all_values = {**study.values_of(cell), **values} if study else values
        places.append([all_values.get(name, NOTHING) for name in names])
    return [Column(name, number=name in DATASET) for name in names], places


def differing_columns(cells: Iterable[Cell], studies: Studies) -> tuple[list[Column], list[list[str]], str]:
    """Return the columns in which cells differ, each cell's values there, and a text of the values that all cells share.

    A cell without a value on an axis differs from the cells of its store that have a value, but not from cells of other stores.
    """
    cells = list(cells)
    names, places = places_of(cells, studies)
    values = []
    for n in range(len(names)):
        with_value = {cell.store for cell, place in zip(cells, places, strict=True) if place[n] != NOTHING}
        shown = [place[n] for cell, place in zip(cells, places, strict=True) if cell.store in with_value]
        values.append(dict.fromkeys(shown))
    differing = [n for n, distinct in enumerate(values) if len(distinct) > 1]
    alike = [
        f"{names[n].heading} {next(iter(distinct))}"
        for n, distinct in enumerate(values)
        if len(distinct) == 1
    ]
    return (
        [names[n] for n in differing],
        [[place[n] for n in differing] for place in places],
        "  ".join(alike),
    )


def remark(row: Mapping[str, Any]) -> str:
    """Return why an attempt failed, or another remark about it; empty without a remark."""
    if row["error_kind"]:
        return f"{row['error_kind']}: {row['error']}"
    marks = [f"{text}: {row[name]}" for name, text in MARKS.items() if row[name]]
    return "; ".join([*marks, *(name for name in ("client_bound", "service_bound") if row[name])])


def cautions(rows: Rows) -> list[str]:
    """Return the reasons why some attempts should not be compared."""
    guarantees = {row["durability"] for row in rows if row["durability"]}
    if len(guarantees) < 2:
        return []
    return [
        f"Durability differs ({', '.join(sorted(guarantees))}): compare only stores with the same guarantee"
    ]


def print_runs(console: Console, rows: Rows, *, asked: bool = True) -> None:
    """Print runs, newest first, with their tags if a run has any. `rows`: from `storebench.results.database.queries.Queries.runs`. `asked`: whether Airflow was asked for their
    states.
    """
    columns, texts = RUN, [_run(row, asked=asked) for row in rows]
    if any(row.get("tags") for row in rows):
        columns = [*RUN, Column("tags", prose=True)]
        texts = [[*text, ", ".join(row["tags"]) or NOTHING] for text, row in zip(texts, rows, strict=True)]
    print_listing(console, columns, texts)


def _run(row: Mapping[str, Any], *, asked: bool) -> list[str]:
    started, finished = (
        f"{at:%Y-%m-%d %H:%M:%S}" if (at := row[name]) else NOTHING for name in ("started_at", "finished_at")
    )
    others = [f"{row[name]} {name.replace('_', ' ')}" for name in ("failed", "not_run") if row[name]]
    if row["disturbed"]:
        others.append(f"{row['disturbed']} of the verified disturbed")
    return [
        row["airflow_run_id"],
        f"{row['state']}{'?' if row['state'] == 'running' and not asked else ''}",
        f"{row['verified']} of {row['planned']}",
        ", ".join(others) or NOTHING,
        started,
        row["study"],
        row["cell_key"] or ", ".join(row["stores"]) or NOTHING,
        f"{row['rows']:,}" if row["rows"] else NOTHING,
        row.get("reason") or NOTHING,
        finished,
    ]
