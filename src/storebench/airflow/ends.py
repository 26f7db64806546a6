"""How runs end: which step failed, and the closing of those that were stopped in Airflow without their last step."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from airflow.sdk import Variable

from storebench.airflow import connections, secrets
from storebench.airflow.brought import Servers
from storebench.results.stopped import AIRFLOW_ID, GOING, OVER, RunStates, close, stopped_runs
from storebench.results.unneeded import secrets_of_runs_over, servers_of_runs_over

# The steps before a run's cells. Each pool of nodes may have a step that names its turns.
BEFORE_CELLS = re.compile(r"plan|turns_\w+|dataset|clean|servers")


def airflow_id() -> str:
    """What tells this Airflow from others that record their runs in the same database: a Variable, made at random when it is needed
    first.
    """
    found: str | None = Variable.get(AIRFLOW_ID, default=None)
    if found is None:
        found = uuid.uuid4().hex
        Variable.set(AIRFLOW_ID, found, description="Marks the runs of this Airflow in Storebench's results")
    return found


def run_states(ti: Any) -> RunStates:
    """Asks Airflow from within a task, whose instance this is."""

    def state_of(dag_id: str, airflow_run_id: str) -> str | None:
        # By counting: asking for the state of a deleted run is an error. GOING first: a queued run may begin meanwhile
        def has(*states: str) -> bool:
            return bool(ti.get_dr_count(dag_id=dag_id, run_ids=[airflow_run_id], states=list(states)))

        return GOING[-1] if has(*GOING) else next((one for one in OVER if has(one)), None)

    return RunStates(state_of, _ended_at, airflow_id)


def _ended_at(dag_id: str, airflow_run_id: str) -> datetime | None:
    """When a run of this Airflow ended. A task's instance has no method that tells it."""
    from airflow.sdk.execution_time.comms import GetDagRun
    from airflow.sdk.execution_time.task_runner import SUPERVISOR_COMMS  # it is there within a task only

    run: Any = SUPERVISOR_COMMS.send(GetDagRun(dag_id=dag_id, run_id=airflow_run_id))
    ended_at: datetime | None = run.end_date
    return ended_at


def failed_step(states: Mapping[str, str | None]) -> str | None:
    """What is said of a run's cells where a step before them has failed and did not say why itself; `states` are by task."""
    failed = [name for name, state in states.items() if state == "failed" and BEFORE_CELLS.fullmatch(name)]
    return f"The step {min(failed)} failed. Its log, or the scheduler's, says why" if failed else None


def close_stopped(ti: Any, run_id: str) -> list[str]:
    """Close the runs that are over in Airflow and were never closed, and remove their Secrets and servers; `run_id` is the run that does so.

    Returns what could not be removed, with the reasons.
    """
    states, repository = run_states(ti), connections.repository(connections.PLAN_PATIENCE_S)
    for stopped in stopped_runs(repository, states):
        if stopped.run["id"] != run_id:
            gaps = close(repository, stopped)
            print(
                f"Closed the run {stopped.run['id']}, which was {stopped.why}: {gaps} operations were not run"
            )
    over = [run for run, _ in servers_of_runs_over(connections.left(), states) if run != run_id]
    stays = [reason for run in over if (reason := Servers(run).release())]
    over = [run for run, _ in secrets_of_runs_over(connections.left(), states) if run != run_id]
    return [*stays, *(reason for run in over if (reason := secrets.release(run)))]
