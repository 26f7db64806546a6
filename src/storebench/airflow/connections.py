"""Airflow Connections: the results database, and the Secrets that carry the others into pods."""

from __future__ import annotations

import base64
import json
from typing import Any

from airflow.exceptions import AirflowNotFoundException
from airflow.sdk import BaseHook, Connection
from psycopg.conninfo import make_conninfo

from storebench.connection import variable
from storebench.errors import SpecError
from storebench.results.repository import Repository

PREFIX = "storebench_"
KUBERNETES = f"{PREFIX}kubernetes"
SECRET_KEY = "connection"


def get(name: str) -> Connection:
    """The Airflow Connection `storebench_<name>`; raises SpecError that says how to make it."""
    connection_id = PREFIX + name
    try:
        return BaseHook.get_connection(connection_id)
    except AirflowNotFoundException:
        raise SpecError(
            f"There is no Airflow Connection {connection_id!r}. Add it under Admin > Connections,"
            f" or set AIRFLOW_CONN_{connection_id.upper()}"
        ) from None


def repository() -> Repository:
    """The results database of the connection `storebench_results`."""
    connection = get("results")
    return Repository(
        make_conninfo(
            host=connection.host,
            port=connection.port or 5432,
            user=connection.login,
            password=connection.password,
            dbname=connection.schema or "storebench",
        )
    )


def secret_name(name: str) -> str:
    """The Kubernetes Secret of connection `name`."""
    return f"storebench-{name.replace('_', '-')}"


def secret_body(name: str) -> dict[str, Any]:
    """The Secret with the connection's JSON, as the pods read it (storebench.connection)."""
    connection = get(name)
    text = json.dumps(
        {
            "host": connection.host,
            "port": connection.port,
            "login": connection.login,
            "password": connection.password,
            "schema": connection.schema,
            "extra": connection.extra_dejson,
        }
    )
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret_name(name), "labels": {"app.kubernetes.io/managed-by": "storebench"}},
        "data": {SECRET_KEY: base64.b64encode(text.encode()).decode()},
    }


def apply_secrets(names: list[str]) -> None:
    """Create or replace the Secrets of these connections in the namespace of the Kubernetes connection."""
    from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook
    from kubernetes.client.exceptions import ApiException

    hook = KubernetesHook(conn_id=KUBERNETES)
    namespace = hook.get_namespace() or "default"
    for name in names:
        body = secret_body(name)
        try:
            hook.core_v1_client.replace_namespaced_secret(secret_name(name), namespace, body)
        except ApiException as error:
            if error.status != 404:
                raise
            hook.core_v1_client.create_namespaced_secret(namespace, body)


__all__ = ["KUBERNETES", "SECRET_KEY", "apply_secrets", "get", "repository", "secret_name", "variable"]
