"""Airflow Connections: access to the results database and S3, and the connections as pods get them."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowNotFoundException
from psycopg.conninfo import make_conninfo

from storebench.connection import Connection as PodConnection
from storebench.connection import typed
from storebench.errors import SpecError
from storebench.results.database.queries import Queries
from storebench.results.database.repository import Repository
from storebench.results.leftovers.tracking import Left
from storebench.s3 import client_for

PREFIX = typed.PREFIX
SECRET_KEY = "connection"
TLS = ("sslmode", "sslrootcert", "sslcert", "sslkey")  # in the extra of a connection to Postgres
POSTGRES_PORT = 5432
DEFAULT_BUCKET = "storebench"
PATIENCE_S = 300  # how long a task that has something to record waits for the results database
# A plan has no figures to lose: it outlasts a short outage, and soon reports a wrong password.
PLAN_PATIENCE_S = 60


def get(name: str) -> Connection:
    """Return the Airflow Connection `storebench_<name>`. Raises SpecError that says how to add a missing connection."""
    connection_id = PREFIX + name
    try:
        return BaseHook.get_connection(connection_id)
    except AirflowNotFoundException:
        raise SpecError(
            f"There is no Airflow Connection {connection_id!r}. Add it under Admin > Connections,"
            f" or set AIRFLOW_CONN_{connection_id.upper()}"
        ) from None


def exists(name: str) -> bool:
    """Return whether there is an Airflow Connection `storebench_<name>`."""
    try:
        get(name)
    except SpecError:
        return False
    return True


def repository(patience_s: float = 0) -> Repository:
    """Return a writer to the results database, `storebench_results`. It waits for the database for up to `patience_s` seconds."""
    return Repository(_dsn("results"), patience_s)


def leftovers() -> Left:
    """Return the record of what runs leave in stores and in the cluster. The results database holds it."""
    return Left(_dsn("results"), PATIENCE_S)


def queries(patience_s: float = 0) -> Queries:
    """Return a reader of the results database. It waits for the database for up to `patience_s` seconds."""
    return Queries(_dsn("results"), patience_s)


def reader_dsn() -> str:
    """Return the DSN of the results database for the role of the connection `storebench_reader`, which can only read."""
    return _dsn("reader")


def _dsn(name: str) -> str:
    connection = pod(name)
    addresses = connection.addresses(POSTGRES_PORT)
    return make_conninfo(
        host=",".join(host for host, _ in addresses),
        port=",".join(str(port) for _, port in addresses),
        user=connection.login,
        password=connection.password,
        dbname=connection.schema or "storebench",
        **{name: value for name, value in connection.extra.items() if name in TLS},
    )


def bucket() -> str:
    """Return the bucket that the S3 connection names in its extra `bucket`, or DEFAULT_BUCKET."""
    return str(pod("s3").extra.get("bucket") or DEFAULT_BUCKET)


def s3() -> Any:
    """Return a client of the S3 of the connection `storebench_s3`."""
    return client_for(pod("s3"))


def secret_name(name: str) -> str:
    """Return the name of the Kubernetes Secret of the connection `name`."""
    return f"storebench-{name.replace('_', '-')}"


def name_of(secret: str) -> str:
    """Return the name of the connection of a Kubernetes Secret: the inverse of `secret_name`."""
    return secret.removeprefix("storebench-").replace("-", "_")


def pod(name: str) -> PodConnection:
    """Return the connection `storebench_<name>` in its normal form, as pods read it. Keeps its secrets out of every error of this process.

    Raises SpecError that names the invalid field.
    """
    stored = get(name)
    try:
        extra = stored.extra_dejson  # empty where the extra is no JSON
    except RecursionError:  # nested too deeply
        extra = None
    if not isinstance(extra, dict) or (stored.extra and not extra and "".join(stored.extra.split()) != "{}"):
        raise SpecError(f"The connection {PREFIX}{name}: extra: has to be an object of JSON")
    return PodConnection(
        name,
        host=stored.host or "",
        port=stored.port,
        login=stored.login or "",
        password=stored.password or "",
        schema=stored.schema or "",
        extra=extra,
    )
