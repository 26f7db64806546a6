"""The real servers of a running stack: `make integration` starts it and sets these variables."""

import json
import os
import uuid

import psycopg
import pytest

from storebench.connection import Connection, variable
from storebench.results.migrate import migrate
from storebench.results.repository import Repository


def required(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        pytest.fail(f"{name} is not set: run these tests with `make integration`")
    return value


@pytest.fixture
def connections(monkeypatch):
    """The S3 and MongoDB connections, set as a pod gets them."""
    found = {}
    for name in ("s3", "mongodb"):
        text = required(f"AIRFLOW_CONN_STOREBENCH_{name.upper()}")
        monkeypatch.setenv(variable(name), text)
        found[name] = Connection.from_json(name, text)
    return found


@pytest.fixture
def change_connection(monkeypatch, connections):
    """Change some fields of a connection for this test."""

    def change(name, **changes):
        data = json.loads(required(f"AIRFLOW_CONN_STOREBENCH_{name.upper()}"))
        extra = data.get("extra") or {}
        extra = json.loads(extra) if isinstance(extra, str) else extra
        data["extra"] = {**extra, **changes.pop("extra", {})}
        monkeypatch.setenv(variable(name), json.dumps({**data, **changes}))

    return change


@pytest.fixture(scope="session")
def database():
    """The URI of a new, migrated database, which is dropped afterwards."""
    server = required("AIRFLOW_CONN_STOREBENCH_RESULTS")
    name = f"storebench_test_{uuid.uuid4().hex[:12]}"
    base, _, _ = server.rpartition("/")
    uri = f"{base}/{name}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
        try:
            assert migrate(uri) == ["0001-schema", "0002-views"]
            yield uri
        finally:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def repository(database):
    return Repository(database)
