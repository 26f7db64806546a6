"""Who may read what: Airflow's own users and permissions, and a database role that can only read."""

from __future__ import annotations

from typing import Annotated

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import Depends, HTTPException

from storebench.airflow import connections
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


ReadingDep = Annotated[Reading, Depends(reading)]
