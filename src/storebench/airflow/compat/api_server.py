"""Read users, DAGs and runs of Airflow's API server, for the results page, which runs inside this server.

Written for apache-airflow-core 3.3.2.

Remove `get_user`, GetUserDep, `user_of`, `may_read` and `may_start` when Airflow documents how a plugin's application asks who the user is and what
the user may do. Remove `timetable_of`, `run_field`, `going_runs` and `queued_runs` when a plugin can ask Airflow's REST API for a DAG's timetable and for
its runs in the name of the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, get_user
from airflow.models import DagRun
from airflow.models.serialized_dag import SerializedDagModel
from airflow.utils.session import create_session
from fastapi import Request
from fastapi.security import HTTPAuthorizationCredentials
from sqlalchemy import func, select

__all__ = [
    "GetUserDep",
    "get_user",
    "going_runs",
    "may_read",
    "may_start",
    "queued_runs",
    "run_field",
    "timetable_of",
    "user_of",
]


async def user_of(request: Request, bearer: HTTPAuthorizationCredentials | None) -> Any:
    """Return the user of a request, as `get_user` does. Raises HTTPException 401 without a login."""
    return await get_user(request, None, bearer)


def may_read(dag_id: str, user: Any) -> bool:
    """Return whether the user may read this DAG."""
    details = DagDetails(id=dag_id)
    return get_auth_manager().is_authorized_dag(method="GET", details=details, user=user)


def may_start(dag_id: str, user: Any) -> bool:
    """Return whether the user may start runs of this DAG."""
    details, entity = DagDetails(id=dag_id), DagAccessEntity.RUN
    return get_auth_manager().is_authorized_dag(
        method="POST", access_entity=entity, details=details, user=user
    )


def timetable_of(dag_id: str) -> Any:
    """Return the timetable of a DAG as Airflow stores it; None if Airflow does not have the DAG."""
    dag = SerializedDagModel.get_dag(dag_id)
    return dag.timetable if dag else None


def run_field(field: Literal["state", "end_date"], dag_id: str, airflow_run_id: str) -> Any:
    """Return the state or the end of a run from Airflow's own database; None if Airflow does not have the run."""
    with create_session() as session:
        run = DagRun.dag_id == dag_id, DagRun.run_id == airflow_run_id
        return session.scalar(select(getattr(DagRun, field)).where(*run))


def going_runs(run_ids: Sequence[str]) -> Sequence[Any]:
    """Return the queued and running runs with these IDs, of any DAG, from Airflow's own database: dag_id, run_id, state, queued_at,
    start_date, conf.
    """
    columns = DagRun.dag_id, DagRun.run_id, DagRun.state, DagRun.queued_at, DagRun.start_date, DagRun.conf
    with create_session() as session:
        going = DagRun.run_id.in_(run_ids), DagRun.state.in_(("queued", "running"))
        return session.execute(select(*columns).where(*going)).all()


def queued_runs(dag_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of runs of each of these DAGs that wait in Airflow's queue. A DAG without such a run is absent."""
    with create_session() as session:
        queued = DagRun.dag_id.in_(dag_ids), DagRun.state == "queued"
        rows = session.execute(
            select(DagRun.dag_id, func.count().label("number")).where(*queued).group_by(DagRun.dag_id)
        )
        return {row.dag_id: row.number for row in rows}
