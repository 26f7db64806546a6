"""Databases on the stack's PostgreSQL: those of Airflow and of the results, and those of stores of one's own, which pods reach."""

import hashlib
import hmac
import os
import re
import shutil
from pathlib import Path

import httpx
import psycopg
from psycopg import sql

from local.stack.settings import Settings, StackError
from storebench.connection import typed
from storebench.connection.forms import FORMS
from storebench.stores.base import USAGE_URL

SERVER = "results"  # the part of the stack, its port, and its folder below the data
OWNER = 64932  # the user of the server's files
STORE = "store_"  # begins the names of a store's database and of its role
MARK = "# stores of one's own"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
MOST = 30  # characters of a name


def superuser(settings: Settings, server: str, port: int) -> psycopg.Connection:
    """Connect by the socket, whose folder only root and the server may enter."""
    folder = settings.data / server
    return psycopg.connect(host=str(folder), port=port, user="postgres", dbname="postgres", autocommit=True)


def ensure(connection: psycopg.Connection, name: str, password: str, *, database: bool = True) -> None:
    """Make the role with this password, and its database of the same name, as far as they are not there."""
    role = sql.Identifier(name)
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
    connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
    there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
    if database and not there:
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))


def rules(text: str, network: str) -> str:
    """Return the text of pg_hba.conf with one rule for the pod network: only a store's role, and only to a store's database."""
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
    """Raises StackError for a name that no database of a store can have."""
    if not NAME.fullmatch(name) or len(name) > MOST:
        raise StackError(
            f"{name!r} is no name of a database: lower-case letters, digits and single _ between them, a letter first, at most {MOST}"
            " characters"
        )
    kind = name.partition("_")[0]
    if kind in {*FORMS, "kubernetes"}:
        raise StackError(f"{name!r} cannot be used: connections of the kind {kind} are to other servers")


def password_of(secrets: dict[str, str], name: str) -> str:
    """Return the password of a store's role. It is the same at each call, so that a run that goes on keeps its login."""
    return hmac.new(secrets["results_password"].encode(), name.encode(), hashlib.sha256).hexdigest()[:32]


def make_for_store(settings: Settings, secrets: dict[str, str], name: str, airflow: httpx.Client) -> str:
    """Make a database for a store, and the Airflow Connection `storebench_NAME` to it, as far as they are not there. Return the
    connection's name."""
    check_name(name)
    database = STORE + name
    password, port = password_of(secrets, name), settings.ports[SERVER]
    with superuser(settings, SERVER, port) as connection:
        ensure(connection, database, password)
    found = {
        "connection_id": f"{typed.PREFIX}{name}",
        "conn_type": "postgres",
        "description": "A database on the embedded PostgreSQL",
        "host": settings.gateway,
        "port": port,
        "login": database,
        "password": password,
        "schema": database,
        "extra": f'{{"{USAGE_URL}": "{settings.url("usage")}/{SERVER}"}}',
    }
    path = "/api/v2/connections"
    answer = airflow.patch(f"{path}/{found['connection_id']}", json=found)
    if answer.status_code == httpx.codes.NOT_FOUND:
        answer = airflow.post(path, json=found)
    answer.raise_for_status()
    return str(found["connection_id"])
