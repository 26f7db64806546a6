"""Find leftovers that no run needs: data in stores, Secrets, datasets, and stopped runs that were never closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console

from storebench.results.database import Row
from storebench.results.left import Left, Undropped
from storebench.results.listing import Column, print_listing
from storebench.results.repository import Repository
from storebench.results.stopped import RunStates, Stopped, stopped_runs
from storebench.results.units import column, figure_text

CLEAN_DAG = "storebench_clean"  # the DAG that removes the leftovers

RUNS = [Column("run"), Column("state", prose=True)]
DATA = [Column("store"), Column("data"), Column("size", number=True), Column("run")]
DATASETS = [Column("dataset"), Column("size", number=True)]
SERVERS = [Column("servers"), Column("run")]
SECRETS = [Column("connection"), Column("node pool"), Column("run")]


def data_of_runs_over(left: Left, states: RunStates) -> list[Undropped]:
    """Return the leftover data in stores of runs that are over, the oldest first."""
    found = left.undropped()
    runs = {(one.dag_id, one.airflow_run_id, one.airflow_id) for one in found}
    over = {run for run in runs if states.over(*run)[0]}
    return [one for one in found if (one.dag_id, one.airflow_run_id, one.airflow_id) in over]


def secrets_of_runs_over(left: Left, states: RunStates) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the runs that are over and hold Secrets, each with the node pool and connection of the Secrets that no running run needs."""
    users = left.runs_with_secrets()
    over = {one["run_id"] for one in users if states.over(*_named(one["run_id"]), one["airflow_id"])[0]}
    needed = {tuple(each) for one in users if one["run_id"] not in over for each in one["secrets"]}
    return [
        (one["run_id"], [(pool, name) for pool, name in one["secrets"] if (pool, name) not in needed])
        for one in users
        if one["run_id"] in over
    ]


def servers_of_runs_over(left: Left, states: RunStates) -> list[tuple[str, list[str]]]:
    """Return the runs that are over with provisioned servers that may still exist, each with its servers."""
    return [
        (one["run_id"], one["servers"])
        for one in left.runs_with_servers()
        if states.over(*_named(one["run_id"]), one["airflow_id"])[0]
    ]


@dataclass(frozen=True)
class Unneeded:
    """The recorded leftovers. Pods are not recorded: only the cluster knows them."""

    stopped: list[Stopped]
    data: list[Undropped]
    datasets: list[Row]
    secrets: list[tuple[str, list[tuple[str, str]]]]
    servers: list[tuple[str, list[str]]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.stopped or self.data or self.datasets or self.secrets or self.servers)


def find(repository: Repository, left: Left, states: RunStates) -> Unneeded:
    """Find the leftovers in the results and in Airflow. Raises StoreUnreachable if either does not answer."""
    return Unneeded(
        stopped_runs(repository, states),
        data_of_runs_over(left, states),
        left.datasets(),
        secrets_of_runs_over(left, states),
        servers_of_runs_over(left, states),
    )


def print_unneeded(console: Console, found: Unneeded) -> None:
    """Print a table for each kind of leftover, and the size of the data."""
    if found.stopped:
        rows = [(one.run["airflow_run_id"], f"open, but {one.why}") for one in found.stopped]
        print_listing(console, RUNS, rows, "Runs that were stopped, and are still to be closed")
    if found.data:
        sizes = _sizes([one.size_bytes for one in found.data])
        data = [
            (one.cell.store, one.target, size, one.airflow_run_id)
            for one, size in zip(found.data, sizes, strict=True)
        ]
        print_listing(console, DATA, data, "Data that runs which are over have left in stores")
    if found.datasets:
        sizes = _sizes([one["bytes"] for one in found.datasets])
        sets = [(one["id"], size) for one, size in zip(found.datasets, sizes, strict=True)]
        print_listing(console, DATASETS, sets, "Datasets in S3 that are of no run in the results")
    if secrets := [(name, pool or "default", run) for run, held in found.secrets for pool, name in held]:
        print_listing(console, SECRETS, secrets, "Secrets in the cluster that no run needs any more")
    if servers := [(name, run) for run, names in found.servers for name in names]:
        print_listing(
            console, SERVERS, servers, "Servers in the cluster that runs which are over have brought"
        )
    all_bytes = [one.size_bytes for one in found.data] + [one["bytes"] for one in found.datasets]
    known = [size for size in all_bytes if size is not None]
    if known:
        unknown = (
            f", and {len(all_bytes) - len(known)} of unknown size" if len(known) < len(all_bytes) else ""
        )
        console.print(f"Together {figure_text(sum(known), 'bytes')}{unknown}", soft_wrap=True)


def _named(run_id: str) -> tuple[str, str]:
    dag_id, _, airflow_run_id = run_id.partition("/")
    return dag_id, airflow_run_id


def _sizes(sizes: Sequence[int | None]) -> list[str]:
    return column(sizes, ["bytes"] * len(sizes))
