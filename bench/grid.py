"""Measure a grid of many cells: the cost of its plan, the speed of the first and the last cells, and its data in Airflow.

The grid is a run of the `null` store with many batch sizes, on all nodes of the embedded stack: `make bench-grid`. `REPEATS=10` measures a tenth
of the batch sizes ten times each. Airflow's scheduler and API server decode the run's parameters once for each task of the run, so
their length matters: a thousand batch sizes are a long list. `MINUTES=20` stops the run after this time and measures the cells that have
ended: the cost of planning 10,000 cells needs no day of measuring them.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import click
import psutil
import psycopg
from rich.console import Console
from rich.table import Table

from local.stack import supervisor
from local.stack.settings import Settings
from storebench.cli.airflow_api import Airflow
from storebench.cli.environment import airflow_login
from storebench.errors import StoreUnreachable
from storebench.planning.node_pools import NodePool, node_pools
from storebench.results.database.repository import Repository, run_id_of
from storebench.study.order import Turn

STUDY, STORE, CLIENT = "bulk_write_read", "null", "reference"
WATCHED = ("airflow-scheduler", "airflow-api-server")
SAMPLE_INTERVAL_S = 30.0
MB = 1e6


def memory_mb(names: Sequence[str]) -> dict[str, float]:
    """Return the memory of the stack's processes and their descendants in MB. A shared page counts once."""
    memory_by_process = {}
    for state in supervisor.processes(Settings()) or []:
        if state["name"] in names:
            total = 0
            for process in (parent := psutil.Process(state["pid"]), *parent.children(recursive=True)):
                try:
                    total += process.memory_full_info().pss
                except psutil.NoSuchProcess:  # the task has just ended
                    continue
            memory_by_process[state["name"]] = total / MB
    return memory_by_process


@contextmanager
def sampled() -> Iterator[dict[str, list[float]]]:
    """Sample `memory_mb` during the block, including its beginning and its end."""
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


def cpu_s(name: str) -> float:
    """Return the CPU seconds that a process of the stack and its ended and living descendants have used."""
    (pid,) = (state["pid"] for state in supervisor.processes(Settings()) or [] if state["name"] == name)
    parent = psutil.Process(pid)
    times = [parent.cpu_times(), *(child.cpu_times() for child in parent.children(recursive=True))]
    return float(sum(each.user + each.system + each.children_user + each.children_system for each in times))


def page_s(airflow: Airflow, run: str) -> dict[str, float]:
    """Return the seconds of the requests by which the results page opens a run."""
    seconds = {}
    for question in ("run", "turns", "cells"):
        start = time.perf_counter()
        airflow.call(
            "GET", f"/storebench/api/{question}", params={"run": run_id_of(STUDY, run), "limit": 500}
        )
        seconds[question] = time.perf_counter() - start
    return seconds


def airflow_dsn() -> str:
    """Return the URI of Airflow's database for psycopg."""
    return os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].replace("+psycopg2", "")


def database_mb() -> dict[str, float]:
    """Return the sizes of Airflow's database and of the results in MB."""
    dsns = {"Airflow": airflow_dsn(), "results": os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]}
    sizes = {}
    for name, dsn in dsns.items():
        with psycopg.connect(dsn) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            sizes[name] = float(row[0]) / MB if row else 0.0
    return sizes


def kept_bytes(run: str) -> dict[str, int]:
    """Return the bytes that a run takes in Airflow's database: its conf, its largest XCom, and all its XComs."""
    query = (
        "SELECT (SELECT octet_length(conf::text) FROM dag_run WHERE run_id = %(run)s),"
        " max(octet_length(value::text)), sum(octet_length(value::text)) FROM xcom WHERE run_id = %(run)s"
    )
    with psycopg.connect(airflow_dsn()) as connection:
        row = connection.execute(query, {"run": run}).fetchone() or (0, 0, 0)
    return dict(zip(("conf", "largest XCom", "all XComs"), (int(size or 0) for size in row), strict=True))


@dataclass(frozen=True)
class Span:
    """The time of a cell, from the start of its write to the start of the next cell on the same nodes."""

    started_at: datetime
    whole_s: float
    outside_s: float  # seconds outside the cell's pods


def spans(
    tasks: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], order: Sequence[Turn]
) -> list[Span]:
    """Return the times of the run's ended cells in the order of their starts."""
    pods_s: dict[tuple[str, int], float] = defaultdict(float)
    for row in rows:
        pods_s[row["cell_key"], row["repeat"]] += row["total_s"]
    measured_spans = []
    for pool in map(NodePool, {turn.node_pool for turn in order}):
        turns = [turn for turn in order if turn.node_pool == pool.name]
        began = {
            task["map_index"]: datetime.fromisoformat(task["start_date"])
            for task in tasks
            if task["task_id"] == f"{pool.group}.write" and task["start_date"]
        }
        ended = {
            task["map_index"]: datetime.fromisoformat(task["end_date"])
            for task in tasks
            if task["task_id"] == f"{pool.group}.drop" and task["end_date"]
        }
        for index, turn in enumerate(turns):
            key = (turn.cell.key, turn.repeat)
            if key not in pods_s or index not in ended:
                continue  # the run was stopped before or in this cell
            next_at = began.get(index + 1) or ended[index]
            cell_s = (next_at - began[index]).total_seconds()
            measured_spans.append(Span(began[index], cell_s, cell_s - pods_s[key]))
    return sorted(measured_spans, key=lambda span: span.started_at)


def overlaps(rows: Sequence[Mapping[str, Any]]) -> int:
    """Count the attempts that began before the end of the previous attempt on the same node."""
    count = 0
    for node in {row["node"] for row in rows}:
        ordered = sorted((row for row in rows if row["node"] == node), key=lambda row: row["started_at"])
        count += sum(after["started_at"] < before["finished_at"] for before, after in pairwise(ordered))
    return count


def follow(airflow: Airflow, run: str, every: int, minutes: float | None) -> str:
    """Follow the run to its end, or stop the run after some minutes. Return its state, `stopped` for a stopped run."""
    if minutes is None:
        return airflow.wait(STUDY, run, progress(every))
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        # Airflow stops a run of many tasks for longer than a client waits, and goes on without the client.
        with suppress(StoreUnreachable):
            Airflow(*airflow_login()).call(
                "PATCH", f"/api/v2/dags/{STUDY}/dagRuns/{run}", json={"state": "failed"}
            )

    timer = threading.Timer(60 * minutes, stop)
    timer.start()
    try:
        state = airflow.wait(STUDY, run, progress(every))
    finally:
        timer.cancel()
        timer.join()
    return "stopped" if stopped.is_set() else state


def progress(every: int) -> Callable[[str], None]:
    """Return a function that prints every failure, and a line after each `every` ended cells."""
    ended = 0

    def report(line: str) -> None:
        nonlocal ended
        ends = ".read " in line and ": success" in line
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
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Repeats of each batch size. Each repeat counts as a cell.",
)
@click.option("--rows", type=click.IntRange(1), default=1000, show_default=True, help="Rows of the dataset.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=1),
    help="Stop the run after this time, and measure the ended cells.",
)
def main(cells: int, edge: int, repeats: int, rows: int, minutes: float | None) -> None:
    """Measure a run of many cells of the null store: plan, seconds per cell at its beginning and end, memory, databases."""
    console = Console(width=110, highlight=False)
    airflow = Airflow(*airflow_login())
    stores = [f"{STORE}@{pool.name}" if pool.name else STORE for pool in node_pools()]
    batches = [str(size) for size in range(1, cells // len(stores) // repeats + 1)]
    if len(batches) > rows:  # larger batches are no separate cells
        raise click.UsageError(f"{len(batches):,} batch sizes need as many rows: --rows {len(batches)}")
    asked: dict[str, Any] = {"rows": rows, "seed": 42, "stores": stores, "clients": [CLIENT]}
    # a warm-up, so that no measured cell includes the dataset or one-time costs
    warm_up = airflow.trigger(STUDY, {**asked, "batch": ["all"], "repeats": 3})
    airflow.wait(STUDY, warm_up, lambda text: None)

    before_mb, before_cpu_s = database_mb(), {name: cpu_s(name) for name in WATCHED}
    with sampled() as memory:
        run = airflow.trigger(STUDY, {**asked, "batch": batches, "repeats": repeats})
        console.print(f"run {run}: {len(batches) * len(stores) * repeats:,} cells on {len(stores)} nodes")
        state = follow(airflow, run, max(1, cells // 20), minutes)
    if state not in ("success", "stopped"):
        raise click.ClickException(f"run {run} ended as {state}")
    after_mb, used_cpu_s = database_mb(), {name: cpu_s(name) - before_cpu_s[name] for name in WATCHED}

    repository = Repository(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"])
    recorded = repository.results(run=run)
    tasks = airflow.task_instances(STUDY, run)
    timed = spans(tasks, recorded, repository.recorded_turns(run_id_of(STUDY, run)))
    plan_s = next(task["duration"] for task in tasks if task["task_id"] == "plan")

    verified = sum(row["status"] == "verified" for row in recorded)
    table = Table(
        title=f"{len(timed):,} cells, {verified:,} of {len(recorded):,} attempts verified, {len(tasks):,} tasks"
    )
    # The pods' work is the same in each cell, so changes of their seconds show changes of the machine.
    for heading in ("cells", "seconds, median", "pods' own, median", "other, median", "other, mean"):
        table.add_column(heading, justify="right")
    edges = {f"first {edge}": timed[:edge], "all": timed, f"last {edge}": timed[-edge:]}
    outside_s = {}
    for name, part in edges.items():
        outside_s[name] = statistics.median(span.outside_s for span in part)
        mean_s = statistics.mean(span.outside_s for span in part)
        whole_s = statistics.median(span.whole_s for span in part)
        pods_s = statistics.median(span.whole_s - span.outside_s for span in part)
        table.add_row(name, *(f"{figure:.2f}" for figure in (whole_s, pods_s, outside_s[name], mean_s)))
    console.print(table)
    console.print(f"attempts that began on a node beside another one: {overlaps(recorded)}")
    for name, sizes in memory.items():
        console.print(
            f"{name}: {sizes[0]:.0f} MB at first, {max(sizes):.0f} MB at most, {sizes[-1]:.0f} MB at last"
        )
    done = sum(1 for task in tasks if task["state"] == "success")
    for name, seconds in used_cpu_s.items():
        console.print(f"{name}: {seconds:.0f} CPU seconds, {seconds / done:.2f} for each of {done:,} tasks")
    console.print(
        f"page: {', '.join(f'{name} {seconds:.2f} s' for name, seconds in page_s(airflow, run).items())}"
    )
    for name in before_mb:
        console.print(f"database {name}: {before_mb[name]:.1f} MB before, {after_mb[name]:.1f} MB after")
    console.print(
        f"in Airflow's database: {', '.join(f'{name} {size:,} bytes' for name, size in kept_bytes(run).items())}"
    )
    wall_s = sum(span.whole_s for span in timed) / len(stores)
    print(
        f"plan_s={plan_s:.2f} last_to_first={outside_s[f'last {edge}'] / outside_s[f'first {edge}']:.3f}"
        f" cell_s={wall_s / len(timed):.2f}"
    )


if __name__ == "__main__":
    main()
