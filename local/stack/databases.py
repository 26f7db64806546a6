"""Create databases on the stack's PostgreSQL: for Airflow, for the results, and for users' stores, which pods reach."""

import hashlib
import hmac
import json
import os
import re
import shutil
from pathlib import Path

import psycopg
from psycopg import sql

from local.stack.settings import Settings, StackError
from storebench.cli.airflow_api import Airflow
from storebench.connection import typed
from storebench.connection.forms import FORMS
from storebench.stores.base import USAGE_URL

SERVER = "results"  # name of the stack's part, its port, and its data folder
OWNER = 64932  # the user of the server's files
POSTGRESQL = "postgresql"  # the store that every stack has a database for
STORE = "store_"  # prefix of the names of a store's database and role
MARK = "# stores of one's own"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
MOST = 30  # the longest name in characters


def superuser(settings: Settings, server: str, port: int) -> psycopg.Connection:
    """Connect as superuser over the socket, whose folder only root and the server may enter."""
    folder = settings.data / server
    return psycopg.connect(host=str(folder), port=port, user="postgres", dbname="postgres", autocommit=True)


def ensure(connection: psycopg.Connection, name: str, password: str, *, database: bool = True) -> None:
    """Create the role with this password and its database of the same name, unless they exist."""
    role = sql.Identifier(name)
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
    connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
    there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
    if database and not there:
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))


def rules(text: str, network: str) -> str:
    """Add a rule for the pod network to the text of pg_hba.conf: only stores' roles, and only to stores' databases."""
    kept = [line for line in text.splitlines() if MARK not in line]
    return "\n".join([*kept, f"host /^{STORE} /^{STORE} {network} scram-sha-256 {MARK}", ""])


def let_pods_in(settings: Settings, connection: psycopg.Connection) -> None:
    """Write the rule for the pod network, and let the server read it."""
    path = settings.data / SERVER / "cluster" / "pg_hba.conf"
    before = path.read_text()
    if (after := rules(before, str(settings.network))) != before:
        new = Path(f"{path}.new")
        new.write_text(after)
        shutil.copymode(path, new)
        os.chown(new, OWNER, OWNER)
        new.replace(path)
        connection.execute("SELECT pg_reload_conf()")


def check_name(name: str) -> None:
    """Raise StackError for an invalid name of a store's database."""
    if not NAME.fullmatch(name) or len(name) > MOST:
        raise StackError(
            f"{name!r} is no name of a database: lower-case letters, digits and single _ between them, a letter first, at most {MOST}"
            " characters"
        )
    kind = name.partition("_")[0]
    if kind in {*FORMS, "kubernetes"} and name != POSTGRESQL:
        raise StackError(f"{name!r} cannot be used: connections of the kind {kind} are to other servers")


def password_of(secrets: dict[str, str], name: str) -> str:
    """Return the password of a store's role. Each call returns the same password, so that running runs keep their login."""
    return hmac.new(secrets["results_password"].encode(), name.encode(), hashlib.sha256).hexdigest()[:32]


def connection_of(settings: Settings, secrets: dict[str, str], name: str) -> dict[str, str | int]:
    """Return the fields of the Airflow Connection to a store's database."""
    database = STORE + name
    return {
        "conn_type": "postgres",
        "host": settings.gateway,
        "port": settings.ports[SERVER],
        "login": database,
        "password": password_of(secrets, name),
        "schema": database,
        "extra": json.dumps({USAGE_URL: f"{settings.url('usage')}/{SERVER}"}),
    }


def make_for_store(settings: Settings, secrets: dict[str, str], name: str, airflow: Airflow) -> str:
    """Create a database for a store and its Airflow Connection `storebench_NAME`, unless they exist. Return the connection's name."""
    check_name(name)
    with superuser(settings, SERVER, settings.ports[SERVER]) as session:
        ensure(session, STORE + name, password_of(secrets, name))
    connection_id = f"{typed.PREFIX}{name}"
    connection = {
        "connection_id": connection_id,
        "description": "A database on the embedded PostgreSQL",
        **connection_of(settings, secrets, name),
    }
    airflow.put("/api/v2/connections", connection_id, connection)
    return connection_id
