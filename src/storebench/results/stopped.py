"""Runs that are over in Airflow and were never closed here: marked as failed, deleted, or ended without their last step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from storebench.results.database import Row
from storebench.results.gaps import fill_gaps
from storebench.results.left import Undropped
from storebench.results.repository import Repository
from storebench.results.summary import refresh

# The state of a run in Airflow by its DAG's and its own id there; None for one that Airflow does not have.
RunState = Callable[[str, str], str | None]
GOING = ("queued", "running")


def stopped_runs(repository: Repository, state_of: RunState) -> list[tuple[Row, str | None]]:
    """The runs that go on as far as was recorded, but are over in Airflow; each with its state there."""
    states = [(run, state_of(run["dag_id"], run["airflow_run_id"])) for run in repository.open_runs()]
    over = [(run, state) for run, state in states if state not in GOING]
    if not over:
        return []
    # One that ended while Airflow was asked has closed itself before it was over there.
    still_open = {run["id"] for run in repository.open_runs()}
    return [(run, state) for run, state in over if run["id"] in still_open]


def why_over(state: str | None) -> str:
    """In words, why a run is over that has this state in Airflow."""
    return f"marked as {state} in Airflow" if state else "deleted from Airflow"


def close(repository: Repository, run: Row, state: str | None) -> int:
    """Give what a stopped run has not done its rows, and close it; returns how many rows that were."""
    run_id: str = run["id"]
    gaps = fill_gaps(repository, run_id, why=f"The run was stopped: {why_over(state)}")
    repository.finish_run(run_id, stopped=state != "success")
    refresh(repository, repository.cells_of_run(run_id))
    return gaps


def remarks(stopped: Sequence[tuple[Row, str | None]], left: Sequence[Undropped]) -> list[str]:
    """A line for each run that was stopped, and for each store in which a run that is over has left data."""
    lines = [
        f"{run['airflow_run_id']} does not go on: it is {why_over(state)}. The next run closes it, or `storebench prune --yes`"
        for run, state in stopped
    ]
    counts = Counter((one.airflow_run_id, one.cell.store) for one in left)
    lines += [
        f"{run} has left data in {store} ({count} of its turns): the next run removes it"
        for (run, store), count in counts.items()
    ]
    return lines
