"""A database for a store on the stack's PostgreSQL: it is reached at the pods' network, and no other database is."""

import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from local.stack import databases, jobs, render
from local.stack.settings import Settings
from storebench.cli.airflow_api import NotFound

ROOT = Path(__file__).parents[2]


@pytest.fixture
def settings():
    return Settings()


@pytest.fixture
def name(settings):
    """Yield the name of a database, and remove the database, its role and its connection afterwards."""
    name = f"trial_{uuid.uuid4().hex[:8]}"
    yield name
    database = sql.Identifier(f"store_{name}")
    with databases.superuser(settings, "results", settings.ports["results"]) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(database))
    with suppress(NotFound):
        jobs.airflow(settings).call("DELETE", f"/api/v2/connections/storebench_{name}")


def make(name):
    command = [sys.executable, "-m", "local.stack", "database", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_reached_from_the_pods_network_and_no_other_database_is(settings, name):
    assert f"Airflow Connection storebench_{name}" in make(name)
    secrets, database = render.secrets(settings), f"store_{name}"
    there = jobs.airflow(settings).call("GET", f"/api/v2/connections/storebench_{name}")
    expected = "postgres", settings.gateway, database, database
    assert tuple(there[field] for field in ("conn_type", "host", "login", "schema")) == expected
    place = {"host": settings.gateway, "port": settings.ports["results"], "connect_timeout": 10}
    login = {"user": database, "password": databases.password_of(secrets, name)}
    with psycopg.connect(dbname=database, **place, **login) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")

    make(name)  # again: nothing is lost
    with psycopg.connect(dbname=database, **place, **login) as connection:
        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)

    results = {"user": "storebench", "password": secrets["results_password"]}
    for other, user in (
        ("storebench", results),
        ("airflow", results),
        ("storebench", login),
        (database, results),
    ):
        with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
            psycopg.connect(dbname=other, **place, **user).close()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(dbname=database, **place, **{**login, "password": "wrong"}).close()
