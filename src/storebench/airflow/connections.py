"""Airflow Connections: the results database, and what of the others goes into pods."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowNotFoundException
from psycopg.conninfo import make_conninfo

from storebench.connection import Connection as PodConnection
from storebench.connection import typed
from storebench.errors import SpecError
from storebench.results.left import Left
from storebench.results.queries import Queries
from storebench.results.repository import Repository
from storebench.s3 import client_for

PREFIX = typed.PREFIX
SECRET_KEY = "connection"
TLS = ("sslmode", "sslrootcert", "sslcert", "sslkey")  # in the extra of a connection to Postgres
POSTGRES_PORT = 5432
DEFAULT_BUCKET = "storebench"
PATIENCE_S = 300  # how long a task that has something to record waits for the results database
PLAN_PATIENCE_S = 60  # a plan has nothing to lose yet: it outlasts a short outage, and soon tells of a password that is wrong


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


def exists(name: str) -> bool:
    """Whether there is an Airflow Connection `storebench_<name>`."""
    try:
        get(name)
    except SpecError:
        return False
    return True


def repository(patience_s: float = 0) -> Repository:
    """Writes to the results database of the connection `storebench_results`; what is measured is worth waiting for it."""
    return Repository(_dsn("results"), patience_s)


def left() -> Left:
    """Keeps account there of what runs leave in stores and in the cluster."""
    return Left(_dsn("results"), PATIENCE_S)


def queries(patience_s: float = 0) -> Queries:
    """Read from the results database, and wait for it for up to `patience_s` seconds."""
    return Queries(_dsn("results"), patience_s)


def reader_dsn() -> str:
    """The results database, as the role of the connection `storebench_reader`, which can only read."""
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
    """The bucket that the S3 connection names in its extra `bucket`."""
    return str(pod("s3").extra.get("bucket") or DEFAULT_BUCKET)


def s3() -> Any:
    """A client of the S3 that the connection names."""
    return client_for(pod("s3"))


def secret_name(name: str) -> str:
    """The Kubernetes Secret of connection `name`."""
    return f"storebench-{name.replace('_', '-')}"


def name_of(secret: str) -> str:
    """The other way round."""
    return secret.removeprefix("storebench-").replace("-", "_")


def pod(name: str) -> PodConnection:
    """Return the connection `storebench_<name>` in its normal form, as the pods read it. Raises SpecError that names the field for what cannot
    be used, and keeps its secrets out of every error of this process."""
    found = get(name)
    extra = found.extra_dejson  # an empty one where it is no JSON
    if not isinstance(extra, dict) or (found.extra and not extra and "".join(found.extra.split()) != "{}"):
        raise SpecError(f"The connection {PREFIX}{name}: extra: has to be an object of JSON")
    return PodConnection(
        name,
        host=found.host or "",
        port=found.port,
        login=found.login or "",
        password=found.password or "",
        schema=found.schema or "",
        extra=extra,
    )
