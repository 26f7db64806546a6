"""The end of runs: find the step that failed, and close runs that were stopped in Airflow without their last step."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any

from airflow.sdk import Variable

from storebench.airflow import connections
from storebench.airflow.compat.tasks import run_ended_at
from storebench.airflow.kubernetes import secrets
from storebench.airflow.servers.provision import Servers
from storebench.results.leftovers.stopped import (
    AIRFLOW_ID,
    ENDED_STATES,
    OPEN_STATES,
    RunStates,
    close,
    stopped_runs,
)
from storebench.results.leftovers.unneeded import secrets_of_runs_over, servers_of_runs_over

# The steps before a run's cells. Each pool of nodes may have a step that names its turns.
BEFORE_CELLS = re.compile(r"plan|turns_\w+|dataset|clean|servers")


def airflow_id() -> str:
    """Return the id that tells this Airflow from others with the same results database: a Variable, set at random on first use."""
    stored: str | None = Variable.get(AIRFLOW_ID, default=None)
    if stored is None:
        stored = uuid.uuid4().hex
        Variable.set(AIRFLOW_ID, stored, description="Marks the runs of this Airflow in Storebench's results")
    return stored


def run_states(ti: Any) -> RunStates:
    """Return an object that asks Airflow for the states of runs through the instance `ti` of the current task."""

    def state_of(dag_id: str, airflow_run_id: str) -> str | None:
        # Count runs: asking for the state of a deleted run is an error. Count OPEN_STATES first: a queued run may begin meanwhile.
        def has(*states: str) -> bool:
            return bool(ti.get_dr_count(dag_id=dag_id, run_ids=[airflow_run_id], states=list(states)))

        if has(*OPEN_STATES):
            return OPEN_STATES[-1]
        return next((state for state in ENDED_STATES if has(state)), None)

    return RunStates(state_of, run_ended_at, airflow_id)


def failed_step(states: Mapping[str, str | None]) -> str | None:
    """Return the reason for a run's cells to have no attempt: the failed step before them, None without one; `states`: by task."""
    failed = [name for name, state in states.items() if state == "failed" and BEFORE_CELLS.fullmatch(name)]
    return f"The step {min(failed)} failed. Its log, or the scheduler's, says why" if failed else None


def close_stopped(ti: Any, run_id: str) -> list[str]:
    """Close the runs that have ended in Airflow and were never closed, and remove their Secrets and servers; `run_id`: the current run.

    Returns what could not be removed, with the reasons.
    """
    states, repository = run_states(ti), connections.repository(connections.PLAN_PATIENCE_S)
    for stopped in stopped_runs(repository, states):
        if stopped.run["id"] != run_id:
            gaps = close(repository, stopped)
            print(
                f"Closed the run {stopped.run['id']}, which was {stopped.outcome}: {gaps} operations were not run"
            )
    over = [run for run, _ in servers_of_runs_over(connections.leftovers(), states) if run != run_id]
    remaining = [reason for run in over if (reason := Servers(run).release())]
    over = [run for run, _ in secrets_of_runs_over(connections.leftovers(), states) if run != run_id]
    return [*remaining, *(reason for run in over if (reason := secrets.release(run)))]
