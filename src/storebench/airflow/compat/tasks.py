"""Read the states and tries of Airflow's tasks, and the end of Airflow's runs.

Written for apache-airflow-core 3.3.2 and apache-airflow-task-sdk 1.3.2.

Remove the sets of states when airflow.sdk has sets of ended and of waiting states, `states_of_tasks` when a task's context tells the states
of its run's tasks, `earlier_tries` when a task's instance tells a retry
from a cleared task, and `run_ended_at` when a task's instance has a method for the end of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

# Airflow's states of a task that has ended.
ENDED_STATES = {"success", "failed", "skipped", "upstream_failed", "removed"}
# Airflow's states of a task that Airflow will run, runs, or will retry, except `restarting`: a user has cleared the running task.
UNENDED_STATES = {None, "scheduled", "queued", "running", "up_for_retry"}


def states_of_tasks(
    context: Mapping[str, Any], task_ids: Sequence[str] | None = None, map_index: int | None = None
) -> dict[str, str | None]:
    """Return Airflow's states of the tasks of the context's run, by task id; `cell.write_3` is the instance 3 of a mapped task.

    `task_ids`: None for all tasks. `map_index`: None for all instances. A task that has not begun may be missing.
    """
    run_id = context["run_id"]
    states: dict[str, dict[str, str | None]] = context["ti"].get_task_states(
        dag_id=context["dag"].dag_id, task_ids=task_ids, map_index=map_index, run_ids=[run_id]
    )
    return states.get(run_id, {})


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
