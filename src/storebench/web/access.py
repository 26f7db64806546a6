"""Check access by Airflow's users and permissions, and read with a read-only database role."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from airflow.sdk import Variable
from fastapi import Depends, HTTPException, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from storebench.airflow import connections, images, preflight
from storebench.airflow.compat.api_server import (
    GetUserDep,
    going_runs,
    may_read,
    may_start,
    queued_runs,
    run_field,
    timetable_of,
    user_of,
)
from storebench.airflow.compat.timetable import GridTimetable
from storebench.errors import SpecError, quoted
from storebench.planning.topologies import AGENT_IMAGE
from storebench.results.leftovers.stopped import AIRFLOW_ID, Going, RunStates
from storebench.study.record import StudyRecord
from storebench.web.reading import Reading
from storebench.web.totals import Totals

METRICS_TOKEN = "STOREBENCH_METRICS_TOKEN"  # the environment variable
Queued = Callable[[Sequence[str]], Mapping[str, int]]  # the number of queued runs by DAG


def reading(user: GetUserDep) -> Reading:
    """Return a Reading of the DAGs that this user may read. Answers 401 without a session, 403 if the user may read no DAG with results.

    Raises SchemaDiffers for a database of another version of Storebench.
    """
    dsn = connections.reader_dsn()
    dag_ids = _dags_with_results(dsn)
    allowed = [dag_id for dag_id in dag_ids if may_read(dag_id, user)]
    if dag_ids and not allowed:
        raise HTTPException(403, "You may not read the DAG of any study with results")
    return Reading(dsn, allowed)


def _dags_with_results(dsn: str) -> list[str]:
    """Return the DAGs with results. Raises SchemaDiffers for a database of another version of Storebench."""
    every = Reading(dsn, [])
    every.check_schema()
    return every.dags()


@dataclass(frozen=True)
class GridDag:
    """A DAG and the record of its study, both as Airflow stores them.

    `dates` are the dates of the grid's partitions by partition key, and `read` reads the results of the DAG.
    """

    study: StudyRecord
    dates: Mapping[str, datetime]
    may_start: bool
    read: Reading


def grid_dag(
    dag: Annotated[str, Query(max_length=500, description="A study's DAG")], user: GetUserDep
) -> GridDag:
    """Return the DAG of this name. Answers 401 without a session, 404 if the DAG does not exist, has no grid, or may not be read by the user."""
    timetable = timetable_of(dag) if may_read(dag, user) else None
    if not isinstance(timetable, GridTimetable):
        raise HTTPException(404, f"There is no study {quoted(dag)} whose grid you may see")
    try:
        study = StudyRecord.read(timetable.study)
        study.params_and_options()  # raises SpecError for a parameter that this version does not know
    except SpecError as error:
        raise HTTPException(404, str(error)) from None
    return GridDag(study, timetable.dates, may_start(dag, user), Reading(connections.reader_dsn(), [dag]))


def run_states(user: GetUserDep) -> RunStates:
    """Return the states of runs in Airflow's own database. A run without results is only known to a user who may read its DAG."""

    def going(run_ids: Sequence[str]) -> list[Going]:
        return [_going(row) for row in going_runs(run_ids)]

    def going_named(name: str) -> Going | None:
        named = [
            run
            for run in going([name, name.partition("/")[2]])
            if name in (run.airflow_run_id, f"{run.dag_id}/{run.airflow_run_id}")
            and may_read(run.dag_id, user)
            and isinstance(timetable_of(run.dag_id), GridTimetable)
        ]
        return named[0] if len(named) == 1 else None

    return replace(airflow_states(), going=going, going_named=going_named)


def _going(row: Any) -> Going:
    return Going(row.dag_id, row.run_id, str(row.state), row.queued_at, row.start_date, dict(row.conf or {}))


def metrics_token() -> str:
    """Return the token that reads the metrics without a login: METRICS_TOKEN, or the password of the connection `storebench_metrics`. Empty
    without a token.
    """
    if token := os.environ.get(METRICS_TOKEN):
        return token
    return connections.get("metrics").password or "" if has_connection("metrics") else ""


async def scraper(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))],
    token: Annotated[str, Depends(metrics_token)],
) -> Any:
    """Return the user who asks for the metrics; None for a program with the token. Answers 401 without a session and without the token."""
    if token and bearer and secrets.compare_digest(bearer.credentials.encode(), token.encode()):
        return None
    return await user_of(request, bearer)


def totals(user: Annotated[Any, Depends(scraper)]) -> Totals:
    """Return the totals of the DAGs that this user may read, or of all DAGs for a program with the token."""
    dsn = connections.reader_dsn()
    return Totals(dsn, reading(user).dag_ids if user else _dags_with_results(dsn))


def airflow_states() -> RunStates:
    """Return the states of recorded runs in Airflow's own database."""
    return RunStates(
        lambda *run: run_field("state", *run),
        lambda *run: run_field("end_date", *run),
        lambda: Variable.get(AIRFLOW_ID, default=None),
    )


def queued() -> Queued:
    """Return the function that counts the runs in Airflow's queue."""
    return queued_runs


def has_connection(name: str) -> bool:
    """Return whether there is an Airflow Connection `storebench_<name>`."""
    return connections.exists(name)


def agent_image() -> str | None:
    """Return the image of the servers' agent; None if no Airflow Variable names it."""
    return images.named(AGENT_IMAGE)


def most_turns() -> int:
    """Return the number of turns that this Airflow allows in a run."""
    return preflight.most_turns()


ReadingDep = Annotated[Reading, Depends(reading)]
StatesDep = Annotated[RunStates, Depends(run_states)]
GridDagDep = Annotated[GridDag, Depends(grid_dag)]
TotalsDep = Annotated[Totals, Depends(totals)]
AirflowStatesDep = Annotated[RunStates, Depends(airflow_states)]
QueuedDep = Annotated[Queued, Depends(queued)]
