"""The executor of an Airflow that shares its machine with what it measures: its scheduler rests while there is no run."""

from __future__ import annotations

import time
from collections.abc import Callable

from airflow.executors.local_executor import LocalExecutor
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from airflow.utils.state import DagRunState
from sqlalchemy import exists, select
from sqlalchemy.orm import Session

# The scheduler's heartbeat, and what it does from time to time, wait no longer than this. It counts as dead after 30 s.
REST_S = 10.0
LOOK_S = 0.25


class RestingExecutor(LocalExecutor):
    """Airflow's LocalExecutor. The scheduler calls it in each round of its loop, and goes on when it returns.

    A round takes some 20 queries. Without a run, one query each LOOK_S takes their place, for REST_S at most.
    """

    def sync(self) -> None:
        super().sync()
        # While a task runs, nothing is asked: it may be a measurement.
        if not (self.running or self.queued_tasks or self.event_buffer):
            rest(_run_is_there)


def rest(run_is_there: Callable[[], bool]) -> None:
    """Wait until there is a run, for REST_S at most."""
    deadline_s = time.monotonic() + REST_S
    while not run_is_there() and time.monotonic() < deadline_s:
        time.sleep(LOOK_S)


def _run_is_there() -> bool:
    with create_session() as session:
        return has_run(session)


def has_run(session: Session) -> bool:
    """Whether any run is queued or running in Airflow's database."""
    going = DagRun.state.in_((DagRunState.QUEUED, DagRunState.RUNNING))
    return bool(session.scalar(select(exists().where(going))))
