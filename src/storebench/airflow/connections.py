"""Airflow Connections: the results database, and the Secrets that carry the others into pods."""

from __future__ import annotations

import base64
import json
import secrets
from typing import Any

from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowNotFoundException
from psycopg.conninfo import make_conninfo

from storebench.airflow.node_pools import NodePool
from storebench.connection import Connection as PodConnection
from storebench.errors import SpecError, StoreUnreachable
from storebench.results.left import Left
from storebench.results.queries import Queries
from storebench.results.repository import Repository
from storebench.s3 import client_for
from storebench.spark import session

PREFIX = "storebench_"
SECRET_KEY = "connection"
# The name of a Secret like those of connections, by which Spark's drivers and executors know each other.
SPARK_KEY = "spark_key"
TLS = ("sslmode", "sslrootcert", "sslcert", "sslkey")  # of the extra of a connection to Postgres
DEFAULT_BUCKET = "storebench"
PATIENCE_S = 300  # with a results database that does not answer, where there is something to record


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


def repository(patience_s: float = 0) -> Repository:
    """Writes to the results database of the connection `storebench_results`; what is measured is worth waiting for it."""
    return Repository(_dsn("results"), patience_s)


def left() -> Left:
    """Keeps account there of what runs leave in stores and in the cluster."""
    return Left(_dsn("results"), PATIENCE_S)


def queries() -> Queries:
    """Reads from the same."""
    return Queries(_dsn("results"))


def reader_dsn() -> str:
    """The results database, as the role of the connection `storebench_reader`, which can only read."""
    return _dsn("reader")


def _dsn(name: str) -> str:
    connection = get(name)
    return make_conninfo(
        host=connection.host,
        port=connection.port or 5432,
        user=connection.login,
        password=connection.password,
        dbname=connection.schema or "storebench",
        **{name: value for name, value in connection.extra_dejson.items() if name in TLS},
    )


def bucket() -> str:
    """The bucket that the S3 connection names in its extra `bucket`."""
    name: str = get("s3").extra_dejson.get("bucket", DEFAULT_BUCKET)
    return name


def s3() -> Any:
    """A client of the S3 that the connection names."""
    return client_for(PodConnection.from_json("s3", pod_json("s3")))


def secret_name(name: str) -> str:
    """The Kubernetes Secret of connection `name`."""
    return f"storebench-{name.replace('_', '-')}"


def name_of(secret: str) -> str:
    """The other way round."""
    return secret.removeprefix("storebench-").replace("-", "_")


def pod_json(name: str) -> str:
    """The connection as the pods read it (storebench.connection)."""
    connection = get(name)
    return json.dumps(
        {
            "host": connection.host,
            "port": connection.port,
            "login": connection.login,
            "password": connection.password,
            "schema": connection.schema,
            "extra": connection.extra_dejson,
        }
    )


def secret_body(name: str) -> dict[str, Any]:
    """The Secret with the connection's JSON; SPARK_KEY is a new random key."""
    is_key = name == SPARK_KEY
    key, text = (session.KEY.name, secrets.token_hex(32)) if is_key else (SECRET_KEY, pod_json(name))
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret_name(name), "labels": {"app.kubernetes.io/managed-by": "storebench"}},
        "data": {key: base64.b64encode(text.encode()).decode()},
    }


def apply_secrets(names: list[str], node_pool: NodePool) -> None:
    """Create or replace the Secrets of these connections in the namespace of the node pool's pods. SPARK_KEY is only created:
    the pods of other runs may be using the one that is there.

    Raises SpecError where the account may not, StoreUnreachable where the cluster does not answer or has an error itself.
    """
    from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook
    from kubernetes.client.exceptions import ApiException
    from urllib3.exceptions import HTTPError

    connection_id = PREFIX + node_pool.connection
    hook = KubernetesHook(conn_id=connection_id)
    namespace = hook.get_namespace() or "default"

    def put(name: str) -> None:
        body = secret_body(name)
        try:
            hook.core_v1_client.replace_namespaced_secret(secret_name(name), namespace, body)
        except ApiException as error:
            if error.status != 404:
                raise
            hook.core_v1_client.create_namespaced_secret(namespace, body)

    def create_once(name: str) -> None:
        try:
            hook.core_v1_client.create_namespaced_secret(namespace, secret_body(name))
        except ApiException as error:
            if error.status != 409:
                raise

    try:
        for name in names:
            (create_once if name == SPARK_KEY else put)(name)
    except ApiException as error:
        if error.status in (409, 429) or error.status >= 500:  # 409: another task has just made it
            raise StoreUnreachable(
                f"The Kubernetes of the connection {connection_id!r} has an error: {error.status} {error.reason}"
            ) from error
        raise SpecError(
            f"Kubernetes does not take a Secret in the namespace {namespace!r} from the account of the connection"
            f" {connection_id!r}: {error.status} {error.reason}. deploy/kubernetes has the rights that it needs"
        ) from error
    except HTTPError as error:
        raise StoreUnreachable(
            f"The Kubernetes of the connection {connection_id!r} does not answer: {error}"
        ) from error
