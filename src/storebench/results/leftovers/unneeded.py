"""Find leftovers that no run needs: data in stores, Secrets, datasets, and stopped runs that were never closed."""

from __future__ import annotations

from dataclasses import dataclass, field

from storebench.results.database.connection import Row
from storebench.results.database.repository import Repository
from storebench.results.leftovers.stopped import RunStates, Stopped, stopped_runs
from storebench.results.leftovers.tracking import Left, Undropped

CLEAN_DAG = "storebench_clean"  # the DAG that removes the leftovers


def data_of_runs_over(leftovers: Left, states: RunStates) -> list[Undropped]:
    """Return the leftover data in stores of runs that are over, the oldest first."""
    undropped = leftovers.undropped()
    runs = {(data.dag_id, data.airflow_run_id, data.airflow_id) for data in undropped}
    over = {run for run in runs if states.over(*run)[0]}
    return [data for data in undropped if (data.dag_id, data.airflow_run_id, data.airflow_id) in over]


def secrets_of_runs_over(leftovers: Left, states: RunStates) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the runs that are over and hold Secrets, each with the node pool and connection of the Secrets that no running run needs."""
    users = leftovers.runs_with_secrets()
    over = {user["run_id"] for user in users if states.over(*_named(user["run_id"]), user["airflow_id"])[0]}
    needed = {tuple(each) for user in users if user["run_id"] not in over for each in user["secrets"]}
    return [
        (user["run_id"], [(pool, name) for pool, name in user["secrets"] if (pool, name) not in needed])
        for user in users
        if user["run_id"] in over
    ]


def servers_of_runs_over(leftovers: Left, states: RunStates) -> list[tuple[str, list[str]]]:
    """Return the runs that are over with provisioned servers that may still exist, each with its servers."""
    return [
        (run["run_id"], run["servers"])
        for run in leftovers.runs_with_servers()
        if states.over(*_named(run["run_id"]), run["airflow_id"])[0]
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


def find(repository: Repository, leftovers: Left, states: RunStates) -> Unneeded:
    """Find the leftovers in the results and in Airflow. Raises StoreUnreachable if either does not answer."""
    return Unneeded(
        stopped_runs(repository, states),
        data_of_runs_over(leftovers, states),
        leftovers.datasets(),
        secrets_of_runs_over(leftovers, states),
        servers_of_runs_over(leftovers, states),
    )


def _named(run_id: str) -> tuple[str, str]:
    dag_id, _, airflow_run_id = run_id.partition("/")
    return dag_id, airflow_run_id
