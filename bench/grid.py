"""A grid of many cells: what its plan takes, whether the last cells are as fast as the first, and what it leaves in Airflow.

One run of the `null` store, whose cells differ in their batch size. Needs the embedded stack: `make bench-grid`.
"""

from __future__ import annotations

import os
import statistics
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click
import psutil
import psycopg
from rich.console import Console
from rich.table import Table

from local.stack import supervisor
from local.stack.settings import Settings
from storebench.grid import Cell
from storebench.results.repository import Repository, run_id_of
from storebench.trigger import Airflow

STUDY, STORE, CLIENT = "bulk_write_read", "null", "reference"
WATCHED = ("airflow-scheduler", "airflow-api-server")
SAMPLE_INTERVAL_S = 30.0
MB = 1e6


def memory_mb(names: Sequence[str]) -> dict[str, float]:
    """The memory of these processes of the stack with all that they have started; a page that several share counts once."""
    found = {}
    for state in supervisor.processes(Settings()) or []:
        if state["name"] in names:
            total = 0
            for process in (parent := psutil.Process(state["pid"]), *parent.children(recursive=True)):
                try:
                    total += process.memory_full_info().pss
                except psutil.NoSuchProcess:  # a task that has just ended
                    continue
            found[state["name"]] = total / MB
    return found


@contextmanager
def sampled() -> Iterator[dict[str, list[float]]]:
    """Samples of `memory_mb` while the block lasts, the first at its beginning, the last at its end."""
    samples: dict[str, list[float]] = defaultdict(list)
    over = threading.Event()

    def sample() -> None:
        for name, size in memory_mb(WATCHED).items():
            samples[name].append(size)

    def loop() -> None:
        sample()
        while not over.wait(SAMPLE_INTERVAL_S):
            sample()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()
        sample()


def database_mb() -> dict[str, float]:
    """The sizes of Airflow's database and of the results."""
    dsns = {
        "Airflow": os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].replace("+psycopg2", ""),
        "results": os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"],
    }
    sizes = {}
    for name, dsn in dsns.items():
        with psycopg.connect(dsn) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            sizes[name] = float(row[0]) / MB if row else 0.0
    return sizes


def kept_bytes(run: str) -> dict[str, int]:
    """What the run has in Airflow's database: bytes of its conf, and of the largest and all of its XComs."""
    query = (
        "SELECT (SELECT octet_length(conf::text) FROM dag_run WHERE run_id = %(run)s),"
        " max(octet_length(value::text)), sum(octet_length(value::text)) FROM xcom WHERE run_id = %(run)s"
    )
    dsn = os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].replace("+psycopg2", "")
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query, {"run": run}).fetchone() or (0, 0, 0)
    return dict(zip(("conf", "largest XCom", "all XComs"), (int(size or 0) for size in row), strict=True))


def cells_s(
    tasks: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], order: Sequence[Cell]
) -> list[tuple[float, float]]:
    """Of each cell, in the order of the run: seconds from its first task's start to the next cell's, and how many of them
    are not its pods' own.
    """
    started = {
        task["map_index"]: datetime.fromisoformat(task["start_date"])
        for task in tasks
        if task["task_id"] == "cell.write"
    }
    end = max(datetime.fromisoformat(task["end_date"]) for task in tasks if task["task_id"] == "cell.drop")
    pods_s: dict[str, float] = defaultdict(float)
    for row in rows:
        pods_s[row["cell_key"]] += row["total_s"]
    found = []
    for index, cell in enumerate(order):
        whole_s = (started.get(index + 1, end) - started[index]).total_seconds()
        found.append((whole_s, whole_s - pods_s[cell.key]))
    return found


def progress(every: int) -> Callable[[str], None]:
    """Prints the line of each so-manieth cell that has ended, and every failure."""
    ended = 0

    def report(line: str) -> None:
        nonlocal ended
        ends = "cell.read" in line and ": success" in line
        ended += ends
        if "failed" in line or (ends and ended % every == 0):
            click.echo(line, err=True)

    return report


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--cells", type=click.IntRange(2, 10_000), default=1000, show_default=True, help="Cells of the grid."
)
@click.option(
    "--edge", type=click.IntRange(1), default=50, show_default=True, help="Cells at each end to compare."
)
@click.option("--rows", type=click.IntRange(1), default=1000, show_default=True, help="Rows of the dataset.")
def main(cells: int, edge: int, rows: int) -> None:
    """A run of many cells of the null store: plan, seconds per cell at its beginning and end, memory, databases."""
    console = Console(width=110)
    airflow = Airflow(*(os.environ[f"STOREBENCH_AIRFLOW_{name}"] for name in ("URL", "USER", "PASSWORD")))
    batches = [str(size) for size in range(1, cells + 1)]
    asked: dict[str, Any] = {"rows": rows, "seed": 42, "stores": [STORE], "clients": [CLIENT]}
    # so that no cell of these pays for the dataset, or for what is slow once only
    warm_up = airflow.trigger(STUDY, {**asked, "batch_sizes": ["all"], "repeats": 3})
    airflow.follow(STUDY, warm_up, lambda text: None)

    before_mb = database_mb()
    with sampled() as memory:
        run = airflow.trigger(STUDY, {**asked, "batch_sizes": batches})
        console.print(f"run {run}: {cells:,} cells", highlight=False)
        state = airflow.follow(STUDY, run, progress(max(1, cells // 20)))
    if state != "success":
        raise click.ClickException(f"run {run} ended as {state}")
    after_mb = database_mb()

    repository = Repository(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"])
    found = repository.results(run=run)
    verified = sum(row["status"] == "verified" for row in found)
    order = [turn.cell for turn in repository.recorded_turns(run_id_of(STUDY, run))]
    tasks = airflow.task_instances(STUDY, run)
    plan_s = next(task["duration"] for task in tasks if task["task_id"] == "plan")
    seconds = cells_s(tasks, found, order)

    table = Table(
        title=f"{cells:,} cells, {len(found):,} attempts, {verified:,} of them verified; {len(tasks):,} tasks"
    )
    for heading in ("cells", "seconds, median", "of them not the pods' own", "mean"):
        table.add_column(heading, justify="right")
    edges = {f"first {edge}": seconds[:edge], "all": seconds, f"last {edge}": seconds[-edge:]}
    for name, part in edges.items():
        whole, outside = zip(*part, strict=True)
        figures = (statistics.median(whole), statistics.median(outside), statistics.mean(outside))
        table.add_row(name, *(f"{figure:.2f}" for figure in figures))
    console.print(table)
    for name, sizes in memory.items():
        console.print(
            f"{name}: {sizes[0]:.0f} MB at the start, {max(sizes):.0f} at most, {sizes[-1]:.0f} at the end",
            highlight=False,
        )
    for name in before_mb:
        console.print(
            f"database {name}: {before_mb[name]:.1f} MB before, {after_mb[name]:.1f} after", highlight=False
        )
    sizes_bytes = ", ".join(f"{name} {size:,} bytes" for name, size in kept_bytes(run).items())
    console.print(f"kept in Airflow: {sizes_bytes}", highlight=False)
    first_s, last_s = (
        statistics.median(outside for _, outside in edges[f"{e} {edge}"]) for e in ("first", "last")
    )
    cell_s = statistics.median(whole for whole, _ in seconds)
    print(f"plan_s={plan_s:.2f} last_to_first={last_s / first_s:.3f} cell_s={cell_s:.2f}")


if __name__ == "__main__":
    main()
