"""Who may read what: Airflow's own users and permissions, and a database role that can only read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep
from airflow.models.serialized_dag import SerializedDagModel
from fastapi import Depends, HTTPException, Query

from storebench.airflow import connections
from storebench.airflow.timetable import GridTimetable
from storebench.web.reading import Reading


def reading(user: GetUserDep) -> Reading:
    """What this user may read: a run may be read by whoever may read its DAG. Answers 401 without a session, 403 if that is nothing."""
    dsn = connections.reader_dsn()
    manager = get_auth_manager()
    dag_ids = Reading(dsn, []).dags()
    allowed = [
        dag_id
        for dag_id in dag_ids
        if manager.is_authorized_dag(method="GET", details=DagDetails(id=dag_id), user=user)
    ]
    if dag_ids and not allowed:
        raise HTTPException(403, "You may read the DAG of no study that has results")
    return Reading(dsn, allowed)


@dataclass(frozen=True)
class GridDag:
    """A study's DAG as Airflow has it: the dates of its grid's partitions by their keys, its parameters' defaults, whether the user may
    start runs of it, and what was measured by it."""

    dag_id: str
    dates: Mapping[str, datetime]
    defaults: Mapping[str, Any]
    may_start: bool
    read: Reading


def grid_dag(
    dag: Annotated[str, Query(max_length=500, description="A study's DAG")], user: GetUserDep
) -> GridDag:
    """The DAG of that name. Answers 401 without a session, 404 if it is not there, has no grid, or if the user may not read it."""
    manager, details = get_auth_manager(), DagDetails(id=dag)
    readable = manager.is_authorized_dag(method="GET", details=details, user=user)
    found = SerializedDagModel.get_dag(dag) if readable else None
    if found is None or not isinstance(found.timetable, GridTimetable):
        raise HTTPException(404, f"There is no study {dag!r} whose grid you may see")
    may_start = manager.is_authorized_dag(
        method="POST", access_entity=DagAccessEntity.RUN, details=details, user=user
    )
    return GridDag(
        dag, found.timetable.dates, found.params.dump(), may_start, Reading(connections.reader_dsn(), [dag])
    )


ReadingDep = Annotated[Reading, Depends(reading)]
GridDagDep = Annotated[GridDag, Depends(grid_dag)]
