"""Measure the main queries in a database of many attempts: `python -m bench.queries`, needs the results' Postgres.

These are the queries of docs/results.md and of the command line, in a temporary database.
"""

from __future__ import annotations

import os
import re
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
import psycopg
from rich.console import Console
from rich.table import Table

from bench.fill import CELLS, METRICS, OTHER, STORES, STUDY, fill
from bench.scratch import scratch
from storebench.results.database.queries import Queries
from storebench.study.model import WORK_TOTAL_S

DOCUMENTATION = Path(__file__).parents[1] / "docs" / "results.md"


def measured(uri: str) -> dict[str, Callable[[], object]]:
    """Return the timed functions by name."""
    text = DOCUMENTATION.read_text()
    documented = dict(re.findall(r"\n([^\n]+):\n\n```sql\n(.*?)```", text, re.DOTALL))
    queries = Queries(uri)
    run = str(queries.run_named("latest", STUDY)["id"])
    cells = queries.cells_of_run(run)[:1]
    ranked = [row["key"] for row in queries.cells_of_study(STUDY, "read")[:STORES]]
    connection = psycopg.connect(uri, autocommit=True)

    def fetch(query: str) -> list[object]:
        return list(connection.execute(query).fetchall())

    return {
        **{name: partial(fetch, query) for name, query in documented.items()},
        "storebench runs": lambda: queries.runs(20),
        "storebench results --run latest": lambda: queries.results(run="latest", limit=1000),
        "storebench results --store null, newest 100": lambda: queries.results(store="null", limit=100),
        "storebench compare: the attempts of a run": lambda: queries.compared_of_run(run, None),
        "storebench compare: the attempts of a cell": lambda: queries.compared_of_cell(cells[0], None),
        "storebench compare --metric: another metric of a run's attempts": lambda: queries.compared_of_run(
            run, "rows_per_s"
        ),
        "storebench compare --metric: the total without verification of a run's attempts": lambda: (
            queries.compared_of_run(run, WORK_TOTAL_S.name)
        ),
        "storebench ranking --metric: the total without verification of its cells": lambda: (
            queries.compared_at(ranked, "read", WORK_TOTAL_S.name)
        ),
        "storebench ranking: the attempts of its cells": lambda: queries.compared_at(
            ranked, "read", "only_s"
        ),
        "storebench results --study of few rows, newest 100": lambda: queries.results(study=OTHER, limit=100),
        "storebench results --study of few rows --run latest": lambda: queries.results(
            study=OTHER, run="latest", limit=1000
        ),
        "a run's plan: the newest environment": lambda: queries.newest_measured(
            STUDY, "mongodb", "reference", "read", "p1"
        ),
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--attempts", type=click.IntRange(1_000), default=1_000_000, show_default=True)
@click.option(
    "--rounds", type=click.IntRange(1), default=5, show_default=True, help="Times that each is run."
)
def main(attempts: int, rounds: int) -> None:
    """Measure the main queries in a database with many attempts."""
    console = Console(width=110)
    server = os.environ.get("AIRFLOW_CONN_STOREBENCH_RESULTS")
    if not server:
        raise click.ClickException(
            "AIRFLOW_CONN_STOREBENCH_RESULTS is not set: run this with `make bench-queries`"
        )
    with scratch(server) as uri:
        console.print(f"making {attempts:,} attempts of {STUDY}, and a tenth of each other study")
        fill(uri, attempts)
        table = Table(
            title=f"ms of {rounds} rounds, {attempts:,} attempts at {CELLS} cells, {METRICS} metrics each"
        )
        table.add_column("query")
        for heading in ("rows", "median, ms", "max, ms"):
            table.add_column(heading, justify="right")
        medians = []
        for name, query in measured(uri).items():
            times_ms = []
            for _ in range(rounds):
                began_s = time.perf_counter()
                rows = query()
                times_ms.append((time.perf_counter() - began_s) * 1000)
            medians.append(statistics.median(times_ms))
            count = len(rows) if isinstance(rows, list) else 1
            table.add_row(name, str(count), f"{medians[-1]:.1f}", f"{max(times_ms):.1f}")
        console.print(table)
    print(f"max_ms={max(medians):.1f} attempts={attempts} queries={len(medians)}")


if __name__ == "__main__":
    main()
