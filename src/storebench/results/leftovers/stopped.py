"""Find and close runs that are over in Airflow but not closed in the results: marked as failed, deleted, or ended without the last task.

Also find the opposite: runs that are closed in the results, and whose tasks were cleared in Airflow since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from storebench.errors import StorebenchError
from storebench.results.database.connection import Row
from storebench.results.database.queries import Queries
from storebench.results.database.repository import Repository
from storebench.results.leftovers.tracking import Left
from storebench.results.runs.gaps import fill_gaps
from storebench.results.runs.summary import refresh

# The Airflow Variable that identifies an Airflow among several that share a database.
AIRFLOW_ID = "storebench_airflow_id"
COMMAND = "`storebench clean --yes`"  # does immediately what the next run does, too
# Airflow's states of a run that has not ended, and of a run that has ended.
OPEN_STATES, ENDED_STATES = ("queued", "running"), ("failed", "success")


@dataclass(frozen=True)
class Going:
    """A run that is queued or running in Airflow.

    `queued_at`: when the run was last queued, as by the clearing of its tasks. `started_at`: when it left the queue; None in the queue.
    `conf`: the requested parameters.
    """

    dag_id: str
    airflow_run_id: str
    state: str
    queued_at: datetime | None
    started_at: datetime | None
    conf: Mapping[str, Any]


@dataclass(frozen=True)
class RunStates:
    """An Airflow's knowledge of runs, by DAG id and run id.

    `state_of`: the state of a run, None for an unknown run. `ended_at`: the end of a finished run, None if not stated.
    `airflow_id`: the id of the Airflow, None if unknown. `going`: the queued and running runs among these run ids. `going_named`: such a
    run by its id, here or in Airflow; None for an unknown run.
    """

    state_of: Callable[[str, str], str | None]
    ended_at: Callable[[str, str], datetime | None]
    airflow_id: Callable[[], str | None]
    going: Callable[[Sequence[str]], Iterable[Going]] = lambda run_ids: ()
    going_named: Callable[[str], Going | None] = lambda name: None

    def over(self, dag_id: str, airflow_run_id: str, airflow_id: str | None) -> tuple[bool, str | None]:
        """Return whether a run of the Airflow `airflow_id` is over, and the run's state.

        A run of this Airflow that Airflow no longer has was deleted.
        """
        state = self.state_of(dag_id, airflow_run_id)
        deleted = state is None and airflow_id is not None and airflow_id == self.airflow_id()
        return state in ENDED_STATES or deleted, state


@dataclass(frozen=True)
class Stopped:
    """A run without a recorded end that is over in Airflow, with its state in Airflow (None if deleted) and its end."""

    run: Row
    state: str | None
    ended_at: datetime

    @property
    def outcome(self) -> str:
        """Return the reason why the run is over."""
        return f"marked as {self.state} in Airflow" if self.state else "deleted from Airflow"

    @property
    def reason(self) -> str:
        """Return the reason that is recorded for the run."""
        return f"The run was stopped: {self.outcome}"

    def closed(self, run: Row) -> Row:
        """Return the run with its numbers of operations, as the run will be once closed."""
        not_run = run["planned"] - run["verified"] - run["failed"]
        failed = self.state != "success" or run["failed"] or not_run
        return {
            **run,
            "state": "failed" if failed else "success",
            "reason": (run["reason"] or self.reason) if failed else None,
            "not_run": not_run,
            "finished_at": self.ended_at,
            "to_close": True,
        }


def stopped_runs(queries: Queries, states: RunStates) -> list[Stopped]:
    """Return the runs without a recorded end that are over in Airflow."""
    stopped = []
    for run in queries.open_runs():
        over, state = states.over(run["dag_id"], run["airflow_run_id"], run["airflow_id"])
        if over:
            ended_at = states.ended_at(run["dag_id"], run["airflow_run_id"]) if state else None
            stopped.append(Stopped(run, state, ended_at or queries.last_seen_at(run["id"])))
    if not stopped:
        return []
    # A run may have ended and closed itself during the requests to Airflow.
    still_open = {run["id"] for run in queries.open_runs()}
    return [stopped_run for stopped_run in stopped if stopped_run.run["id"] in still_open]


def as_closed(runs: Sequence[Row], stopped: Sequence[Stopped]) -> list[Row]:
    """Return runs with their numbers of operations, with stopped runs as they will be after closing."""
    by_id = {stopped_run.run["id"]: stopped_run for stopped_run in stopped}
    return [by_id[run["id"]].closed(run) if run["id"] in by_id else run for run in runs]


def as_reopened(runs: Sequence[Row], going: Iterable[Going]) -> list[Row]:
    """Return runs, with each run that was queued again after its recorded end as its next task will record it.

    The time from the recorded end until the run leaves the queue is rest.
    """
    by_name = {(run.dag_id, run.airflow_run_id): run for run in going}
    reopened = []
    for row in runs:
        again, ended_at = by_name.get((row["dag_id"], row["airflow_run_id"])), row["finished_at"]
        if again and ended_at and again.queued_at and again.queued_at > ended_at:
            rested_s = ((again.started_at or datetime.now(UTC)) - ended_at).total_seconds()
            row = {
                **row,
                "state": again.state,
                "reason": None,
                "finished_at": None,
                "rested_s": row["rested_s"] + max(0.0, rested_s),
            }
        reopened.append(row)
    return reopened


def close(repository: Repository, stopped: Stopped) -> int:
    """Record rows for the missing operations of a stopped run, and close the run. Return the number of rows."""
    run_id: str = stopped.run["id"]
    gaps = fill_gaps(repository, run_id, reason=stopped.reason)
    repository.finish_run(
        run_id, stopped=stopped.state != "success", reason=stopped.reason, ended_at=stopped.ended_at
    )
    refresh(repository, repository.cells_of_run(run_id))
    return gaps


def ask(queries: Queries, states: RunStates | None) -> tuple[list[Stopped], str | None]:
    """Return the stopped runs, and the reason if Airflow cannot be asked. `states`: None without Airflow."""
    if states is None:
        return [], "STOREBENCH_AIRFLOW_URL is not set"
    try:
        return stopped_runs(queries, states), None
    except StorebenchError as error:
        return [], str(error)


def tell(queries: Queries, leftovers: Left, stopped: Sequence[Stopped], unknown: str | None) -> Iterator[str]:
    """Yield a line for each stopped run, and for each store with leftover data of a run that is over.

    `unknown`: why Airflow could not be asked; None if it was asked.
    """
    open_runs = {run["id"] for run in queries.open_runs()}
    if unknown and open_runs:
        yield f"Airflow cannot be asked which runs are still running: {unknown}"
    for stopped_run in stopped:
        yield f"{stopped_run.run['airflow_run_id']} is open, but was {stopped_run.outcome}. The next run closes it, or {COMMAND}"
    going = open_runs - {stopped_run.run["id"] for stopped_run in stopped}
    counts = Counter(
        (data.airflow_run_id, data.cell.store) for data in leftovers.undropped() if data.run_id not in going
    )
    for (name, store), count in counts.items():
        yield f"{name} has left data in {store} ({count} of its turns): the next run removes it, or {COMMAND}"
