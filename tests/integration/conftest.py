"""The real servers of a running stack: `make integration` starts it and sets these variables."""

import fcntl
import json
import os
import uuid
from pathlib import Path

import psycopg
import pytest

from bench.scratch import scratch
from storebench.airflow.outcome.retrieve import discard, full_result
from storebench.attempt.result import AttemptResult
from storebench.connection import Connection, variable
from storebench.dataset.upload import ensure_dataset
from storebench.results.database.migrate import migrate
from storebench.results.database.queries import Queries
from storebench.results.database.repository import Repository
from storebench.s3 import client_for
from tests.bulk import cell_at, spec_for
from tests.integration.command import run_command
from tests.integration.recorded import cells, run
from tests.integration.watched import agent_built, container

__all__ = ["agent_built", "cells", "container", "run"]

# Short programs in Java spend most of their CPU time on the compiler: its first stage alone takes 40 % less.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
SQL = Path(__file__).parents[2] / "sql"
ROWS, SEED = 2_000, 7  # of the attempts' dataset


def required(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        pytest.fail(f"{name} is not set: run these tests with `make integration`")
    return value


@pytest.fixture
def together(tmp_path_factory):
    """Held together with the tests of other workers. A test that changes a server's settings for all makes it its own:
    `fcntl.flock(together, fcntl.LOCK_EX)`."""
    with (tmp_path_factory.getbasetemp().parent / "servers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield lock


@pytest.fixture
def connections(monkeypatch, together):
    """Set the connections to S3 and the stores' servers as in a pod."""
    found = {}
    for name in ("s3", "mongodb", "elasticsearch", "postgresql"):
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
    """Create a migrated database, yield its URI, and drop the database afterwards."""
    with scratch(required("AIRFLOW_CONN_STOREBENCH_RESULTS")) as uri:
        with psycopg.connect(
            uri, autocommit=True
        ) as server:  # a test need not wait for the disk at each commit
            name = uri.rpartition("/")[2]
            server.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        assert migrate(uri) == sorted(path.stem for path in SQL.glob("*.sql"))
        yield uri


@pytest.fixture
def repository(database):
    return Repository(database)


@pytest.fixture
def queries(database):
    return Queries(database)


@pytest.fixture
def bucket(connections):
    """Return the bucket with the attempts' dataset."""
    name = connections["s3"].extra["bucket"]
    ensure_dataset(client_for(connections["s3"]), name, ROWS, SEED)
    return name


@pytest.fixture
def target():
    """Return the target of this test's attempts."""
    return f"storebench_test_{uuid.uuid4().hex[:16]}"


@pytest.fixture
def attempt(connections, bucket, target, tmp_path):
    """Run one attempt in a process of its own; returns its exit code and its result."""
    used = set()
    unchanged = dict(os.environ)  # a test may point a connection to where nobody answers

    def run(
        operation,
        store="mongodb",
        batch="500",
        rows=ROWS,
        client="reference",
        bucket=bucket,
        variables=os.environ,
    ):
        used.add(store)
        cell = cell_at(store, SEED, rows, client=client, batch=batch)
        spec = spec_for(operation, cell, target, bucket)
        message = tmp_path / "termination-log"
        told = {"STOREBENCH_ATTEMPT": spec.to_json(), "STOREBENCH_TERMINATION_LOG": str(message)}
        code, _ = run_command(["attempt"], {**variables, **told})
        result = AttemptResult.from_json(message.read_text())
        found = full_result(result, spec, lambda: client_for(connections["s3"]))
        discard(found, spec, lambda: client_for(connections["s3"]))
        return code, found

    yield run
    for store in used:
        assert run("drop", store=store, variables=unchanged)[0] == 0, "what a test wrote is left"
