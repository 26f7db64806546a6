"""A results database of another version: the command line, the page and a migration refuse it, and say what to do."""

import psycopg
import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from bench.scratch import scratch
from storebench.airflow import connections
from storebench.airflow.compat.api_server import get_user
from storebench.cli import main
from storebench.errors import SchemaDiffers
from storebench.results.database import schema
from storebench.results.database.migrate import migrate
from storebench.results.database.queries import Queries
from storebench.web.api import app
from tests.integration.conftest import required


@pytest.fixture
def own(monkeypatch):
    """Return the URI of an empty database, which the command line and the page use."""
    with scratch(required("AIRFLOW_CONN_STOREBENCH_RESULTS")) as uri:
        monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", uri)
        monkeypatch.setattr(connections, "reader_dsn", lambda: uri)
        monkeypatch.setitem(app.dependency_overrides, get_user, lambda: None)
        yield uri


def refused(reason):
    """Check that a command and the page refuse the database for this reason."""
    command = CliRunner().invoke(main, ["runs"])
    answer = TestClient(app).get("/api/runs")
    assert command.exit_code == SchemaDiffers.exit_code and reason in command.output
    assert answer.status_code == 500 and reason in answer.json()["detail"]


def test_a_database_of_another_version_is_refused_and_says_which_side_to_upgrade(own):
    refused("The results database has no tables of Storebench: run `storebench migrate`")
    migrate(own)
    Queries(own).check_schema()
    with psycopg.connect(own, autocommit=True) as database:
        schema.record(database, schema.needed() - 1)
        refused(
            f"has schema {schema.needed() - 1}, and this version of Storebench needs schema {schema.needed()}"
        )
        database.execute("COMMENT ON SCHEMA storebench IS NULL")
        refused("has an older schema")
        migrate(own)
        assert schema.present(database) == schema.needed()
        schema.record(database, schema.needed() + 1)
        refused(f"has schema {schema.needed() + 1}. It is newer than this version of Storebench")
        database.execute("COMMENT ON VIEW storebench.summary IS 'of a newer version'")
        command = CliRunner().invoke(main, ["migrate"])
        assert command.exit_code == SchemaDiffers.exit_code and "is newer than this version" in command.output
        (kept,) = database.execute("SELECT obj_description('storebench.summary'::regclass)").fetchone()
        assert kept == "of a newer version"


def test_a_restored_backup_is_not_migrated_again(own):
    migrate(own)
    with psycopg.connect(own, autocommit=True) as database:
        # A restored backup of the schema `storebench` lacks yoyo's own tables.
        for (table,) in database.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall():
            database.execute(f'DROP TABLE public."{table}"')
    assert migrate(own) == []
    Queries(own).check_schema()
