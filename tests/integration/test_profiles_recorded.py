"""Profiles of attempts in the real database: rows, API, command, bundle and removal; a profiled attempt is in no statistics."""

from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest
from click.testing import CliRunner

from bench.scratch import scratch
from storebench.cli import main
from storebench.protocol.profiles import folded_of, packed
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import run_id_of
from storebench.results.export.bundle import Bundles
from storebench.results.runs.prune import Pruning
from storebench.results.runs.summary import refresh
from storebench.study.observing import CPU, disturbed_by
from tests.integration.recorded import STUDY
from tests.integration.test_page import client, get, stranger

__all__ = ["client", "stranger"]

STACKS = {"main (a.py);send (b.py)": 7, "main (a.py)": 2}
CONTENT, _ = packed(STACKS)
PROFILES = {
    "python": {"sampler": "py-spy 1", "hz": 100, "samples": 10, "dropped_samples": 1, "stacks": CONTENT},
    "java": {"sampler": "JFR", "hz": 50, "unknown": "no Java process"},
}


@pytest.fixture
def name(run, cells):
    """Record a run whose writes of one cell have profiles, and return the run's name."""
    profiled = lambda cell, operation: cell == cells[0] and operation == "write"
    return run(
        cells,
        2,
        figures=lambda *of: {"profiles": PROFILES, "disturbed": disturbed_by(CPU)} if profiled(*of) else {},
    )


def test_the_api_answers_the_stacks_of_an_attempt(client, name, cells):
    rows = get(client, "attempts", run=name, operation="write")["items"]
    of_cell = {row["cell_key"]: row["attempt_id"] for row in rows}
    (found,) = get(client, "profiles", run=name, attempt=of_cell[cells[0].key])
    assert found["profiles"] == {
        "java": {**dict.fromkeys(["samples", "dropped_samples", "folded"]), **PROFILES["java"]},
        "python": {
            **{name: PROFILES["python"][name] for name in ("sampler", "hz", "samples", "dropped_samples")},
            "folded": folded_of(STACKS),
            "unknown": None,
        },
    }
    assert get(client, "profiles", run=name, attempt=of_cell[cells[1].key]) == []


def test_nobody_sees_the_profiles_of_a_run_whose_dag_they_may_not_read(stranger, name):
    get(stranger, "profiles", run=run_id_of(STUDY, name), attempt=str(UUID(int=0)), answers=404)


def test_the_command_prints_the_folded_stacks(client, database, name, cells, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    done = CliRunner().invoke(main, ["profile", name])
    assert done.exit_code == 0, done.output
    place = f"{cells[0].label} write"
    assert done.stdout.splitlines() == [
        f"{place} {repeat};python;{line}" for repeat in (1, 2) for line in folded_of(STACKS).splitlines()
    ]
    assert f"{place} 1: 1 of 10 samples, of rare stacks, were not stored" in done.stderr
    assert f"{place} 1: no stacks of java: no Java process" in done.stderr
    attempts = get(client, "attempts", run=name, operation="write", cell=cells[0].key)["items"]
    only = CliRunner().invoke(main, ["profile", name, "--attempt", attempts[0]["attempt_id"]])
    assert only.stdout == "".join(f"python;{line}\n" for line in folded_of(STACKS).splitlines())
    none = CliRunner().invoke(main, ["profile", name, "--operation", "read"])
    assert none.exit_code and "start a run with the parameter profile=cpu" in none.output


def test_a_profiled_attempt_is_in_no_statistics(repository, database, name, cells):
    refresh(repository, [cell.key for cell in cells])
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT cell_key, n FROM storebench.summary WHERE operation = 'write' AND cell_key = ANY(%s)",
            ([cell.key for cell in cells],),
        ).fetchall()
    assert set(found) == {(cells[1].key, 2)}


def test_a_bundle_has_them_and_a_removed_run_leaves_none(database, name, tmp_path):
    Bundles(database).export(run_id_of(STUDY, name), tmp_path / "run.zip")
    with scratch(database) as uri:
        migrate(uri)
        assert Bundles(uri).load(tmp_path / "run.zip")[1]["profile"] == 4
        with psycopg.connect(uri) as connection, psycopg.connect(database) as origin:
            select = "SELECT stacks FROM storebench.profile AS p JOIN storebench.attempt AS a ON a.id = p.attempt_id WHERE run_id = %s"
            of_run = (run_id_of(STUDY, name),)
            assert connection.execute(select, of_run).fetchall() == origin.execute(select, of_run).fetchall()
        Pruning(uri).remove(datetime(2100, 1, 1, tzinfo=UTC))
        with psycopg.connect(uri) as connection:
            assert connection.execute("SELECT count(*) FROM storebench.profile").fetchone() == (0,)
