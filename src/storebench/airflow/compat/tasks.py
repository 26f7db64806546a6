"""Read the states and tries of Airflow's tasks, and the end of Airflow's runs.

Written for apache-airflow-core 3.3.2 and apache-airflow-task-sdk 1.3.2.

Remove the sets of states when airflow.sdk has sets of ended and of waiting states, `earlier_tries` when a task's instance tells a retry
from a cleared task, and `run_ended_at` when a task's instance has a method for the end of a run.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

# Airflow's states of a task that has ended.
ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}
# Airflow's states of a task that Airflow will run, runs, or will retry, except `restarting`: a user has cleared the running task.
AGAIN = {None, "scheduled", "queued", "running", "up_for_retry"}


def earlier_tries(ti: Any, retries: int | None) -> range:
    """Return the numbers of the tries that this try replaces, because their processes died. A cleared task replaces no try.

    Airflow raises `max_tries` when it clears a task, and keeps `max_tries` when it retries a task.
    """
    return range(max(1, ti.max_tries - (retries or 0) + 1), ti.try_number)


def run_ended_at(dag_id: str, airflow_run_id: str) -> datetime | None:
    """Return the end of a run of this Airflow; None while it runs. Only a task can call this function."""
    from airflow.sdk.execution_time.comms import GetDagRun
    from airflow.sdk.execution_time.task_runner import SUPERVISOR_COMMS  # exists within a task only

    run: Any = SUPERVISOR_COMMS.send(GetDagRun(dag_id=dag_id, run_id=airflow_run_id))
    ended_at: datetime | None = run.end_date
    return ended_at
