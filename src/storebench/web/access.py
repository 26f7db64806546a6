"""Check access by Airflow's users and permissions, and read with a read-only database role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep
from airflow.models import DagRun
from airflow.models.serialized_dag import SerializedDagModel
from airflow.sdk import Variable
from airflow.utils.session import create_session
from fastapi import Depends, HTTPException, Query
from sqlalchemy import select

from storebench.airflow import connections
from storebench.airflow.timetable import GridTimetable
from storebench.errors import SpecError
from storebench.results.stopped import AIRFLOW_ID, RunStates
from storebench.study.record import StudyRecord
from storebench.web.reading import Reading


def reading(user: GetUserDep) -> Reading:
    """Return a Reading of the DAGs that this user may read. Answers 401 without a session, 403 if the user may read no DAG with results."""
    dsn = connections.reader_dsn()
    manager = get_auth_manager()
    dag_ids = Reading(dsn, []).dags()
    allowed = [
        dag_id
        for dag_id in dag_ids
        if manager.is_authorized_dag(method="GET", details=DagDetails(id=dag_id), user=user)
    ]
    if dag_ids and not allowed:
        raise HTTPException(403, "You may not read the DAG of any study with results")
    return Reading(dsn, allowed)


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
    manager, details = get_auth_manager(), DagDetails(id=dag)
    readable = manager.is_authorized_dag(method="GET", details=details, user=user)
    found = SerializedDagModel.get_dag(dag) if readable else None
    if found is None or not isinstance(found.timetable, GridTimetable):
        raise HTTPException(404, f"There is no study {dag!r} whose grid you may see")
    may_start = manager.is_authorized_dag(
        method="POST", access_entity=DagAccessEntity.RUN, details=details, user=user
    )
    try:
        study = StudyRecord.read(found.timetable.study)
        study.asks()  # raises SpecError for a parameter that this version does not know
    except SpecError as error:
        raise HTTPException(404, str(error)) from None
    return GridDag(study, found.timetable.dates, may_start, Reading(connections.reader_dsn(), [dag]))


def run_states() -> RunStates:
    """Return the states of runs in Airflow's own database."""

    def ask(column: Any, dag_id: str, airflow_run_id: str) -> Any:
        with create_session() as session:
            of_the_run = DagRun.dag_id == dag_id, DagRun.run_id == airflow_run_id
            return session.scalar(select(column).where(*of_the_run))

    return RunStates(
        lambda *run: ask(DagRun.state, *run),
        lambda *run: ask(DagRun.end_date, *run),
        lambda: Variable.get(AIRFLOW_ID, default=None),
    )


ReadingDep = Annotated[Reading, Depends(reading)]
StatesDep = Annotated[RunStates, Depends(run_states)]
GridDagDep = Annotated[GridDag, Depends(grid_dag)]
