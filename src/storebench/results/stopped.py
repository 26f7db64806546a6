"""Runs that are over in Airflow and were never closed here: marked as failed, deleted, or ended without their last step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from storebench.errors import StorebenchError
from storebench.results.database import Row
from storebench.results.gaps import fill_gaps
from storebench.results.left import Left
from storebench.results.repository import Repository
from storebench.results.summary import refresh

# The Airflow Variable by which the runs of several Airflows in one database are told apart.
AIRFLOW_ID = "storebench_airflow_id"
COMMAND = "`storebench clean --yes`"  # does at once what the next run does
GOING, OVER = ("queued", "running"), ("failed", "success")


@dataclass(frozen=True)
class RunStates:
    """What an Airflow says of runs: `state_of` a run, by its DAG's and its own id there, None for one that it does not have; and which
    Airflow it is, None where that is not known.
    """

    state_of: Callable[[str, str], str | None]
    airflow_id: Callable[[], str | None]

    def over(self, dag_id: str, airflow_run_id: str, airflow_id: str | None) -> tuple[bool, str | None]:
        """Whether the run, of the Airflow `airflow_id`, is over; and its state. One that this Airflow does not have was deleted, if it
        was this Airflow's.
        """
        state = self.state_of(dag_id, airflow_run_id)
        deleted = state is None and airflow_id is not None and airflow_id == self.airflow_id()
        return state in OVER or deleted, state


def stopped_runs(repository: Repository, states: RunStates) -> list[tuple[Row, str | None]]:
    """The runs that go on as far as was recorded, but are over in Airflow; each with its state there."""
    found = []
    for run in repository.open_runs():
        over, state = states.over(run["dag_id"], run["airflow_run_id"], run["airflow_id"])
        if over:
            found.append((run, state))
    if not found:
        return []
    # A run may have ended, and closed itself, while Airflow was asked.
    still_open = {run["id"] for run in repository.open_runs()}
    return [(run, state) for run, state in found if run["id"] in still_open]


def why_over(state: str | None) -> str:
    """In words, why a run is over that has this state in Airflow."""
    return f"marked as {state} in Airflow" if state else "deleted from Airflow"


def close(repository: Repository, run: Row, state: str | None) -> int:
    """Give what a stopped run has not done its rows, and close it; returns how many rows that were."""
    run_id: str = run["id"]
    why = f"The run was stopped: {why_over(state)}"
    gaps = fill_gaps(repository, run_id, why=why)
    repository.finish_run(run_id, stopped=state != "success", reason=why)
    refresh(repository, repository.cells_of_run(run_id))
    return gaps


def tell(repository: Repository, left: Left, states: RunStates | None) -> Iterator[str]:
    """A line for each run that was stopped, as far as Airflow can be asked, and for each store in which a run that is over has left
    data.
    """
    stopped: list[tuple[Row, str | None]] = []
    try:
        stopped = stopped_runs(repository, states) if states else []
    except StorebenchError as error:
        yield f"Airflow cannot be asked which runs are still running: {error}"
    for run, state in stopped:
        yield f"{run['airflow_run_id']} is open, but was {why_over(state)}. The next run closes it, or {COMMAND}"
    going = {run["id"] for run in repository.open_runs()} - {run["id"] for run, _ in stopped}
    counts = Counter(
        (one.airflow_run_id, one.cell.store) for one in left.undropped() if one.run_id not in going
    )
    for (name, store), count in counts.items():
        yield f"{name} has left data in {store} ({count} of its turns): the next run removes it, or {COMMAND}"
