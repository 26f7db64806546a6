"""Define an executor for an Airflow that shares its machine with the measured pods: the scheduler rests while there is no run.

Written for apache-airflow-core 3.3.2.

Remove the module when the scheduler has a setting for longer waits while no run is queued or running.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from airflow.executors.local_executor import LocalExecutor
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from airflow.utils.state import DagRunState
from sqlalchemy import exists, select
from sqlalchemy.orm import Session

# The longest delay of the scheduler's heartbeat and periodic work. A scheduler counts as dead 30 s after its last heartbeat.
REST_S = 10.0
LOOK_S = 0.25  # seconds between two queries for a run


class RestingExecutor(LocalExecutor):
    """Airflow's LocalExecutor with a `sync` that rests. The scheduler calls `sync` in each round of its loop, and waits for it.

    A round takes about 20 queries. Without a run, `sync` instead makes one query every LOOK_S seconds, for up to REST_S seconds.
    """

    def sync(self) -> None:
        super().sync()
        # No queries while a task runs: the task may be a measurement.
        if not (self.running or self.queued_tasks or self.event_buffer):
            rest(_run_is_there)


def rest(run_is_there: Callable[[], bool]) -> None:
    """Wait until there is a run, for up to REST_S seconds."""
    deadline_s = time.monotonic() + REST_S
    while not run_is_there() and time.monotonic() < deadline_s:
        time.sleep(LOOK_S)


def _run_is_there() -> bool:
    with create_session() as session:
        return has_run(session)


def has_run(session: Session) -> bool:
    """Return whether any run is queued or running in Airflow's database."""
    going = DagRun.state.in_((DagRunState.QUEUED, DagRunState.RUNNING))
    return bool(session.scalar(select(exists().where(going))))
