"""Runs as files, and the removal of old ones; in the real database."""

import hashlib
import json
import zipfile
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from bench.scratch import scratch
from storebench.attempt.node import NodeFigures
from storebench.errors import SpecError
from storebench.results.bundle import Bundles
from storebench.results.migrate import migrate
from storebench.results.prune import Pruning
from storebench.results.queries import Queries
from storebench.results.repository import Repository, run_id_of
from storebench.results.summary import refresh
from tests.integration.recorded import PARAMS


@pytest.fixture
def other_database(database):
    """A second, empty one."""
    with scratch(database) as uri:
        migrate(uri)
        yield uri


def test_a_run_goes_into_another_database_whole_and_only_once(
    database, queries, other_database, run, cells, tmp_path
):
    name = run(cells)
    run_id = run_id_of("s", name)
    Bundles(database).export(run_id, tmp_path / "run.zip")
    other = Bundles(other_database)
    loaded, new = other.load(tmp_path / "run.zip")
    assert loaded == run_id
    assert new["attempt"] == new["phase"] == 20
    assert set(other.load(tmp_path / "run.zip")[1].values()) == {0}
    here, there = (
        [dict(row) for row in each.results(run=name)] for each in (queries, Queries(other_database))
    )
    assert here == there
    with psycopg.connect(other_database) as connection:
        assert connection.execute("SELECT count(*) FROM storebench.summary").fetchone() == (4,)
    other.export(run_id, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "run.zip").read_bytes()


LATELY = (
    *("verification", "delivers", "figures_cover", "client_cores_usable", "durability", "durability_stated"),
    *("disturbed", *NodeFigures.__dataclass_fields__),
)


def former(path):
    """The same bundle as it was exported before parameters were recorded, and executors that stand for several pods."""
    with zipfile.ZipFile(path) as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist()}
    del members["parameters.json"], members["SHA256SUMS"]
    for table, column in (
        ("attempt", "parameters_hash"),
        *(("attempt", column) for column in LATELY),
        ("executor", "pods"),
        ("run_cell", "node_pool"),
    ):
        rows = json.loads(members[f"{table}.json"])
        assert rows, table
        for row in rows:
            del row[column]
        members[f"{table}.json"] = json.dumps(rows).encode()
    (row,) = json.loads(members["run.json"])
    row["stopped"] = row.pop("reason")
    members["run.json"] = json.dumps([row]).encode()
    sums = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    members["SHA256SUMS"] = "".join(sums).encode()
    with zipfile.ZipFile(path, "w") as bundle:
        for name, content in members.items():
            bundle.writestr(name, content)


def test_a_bundle_of_a_former_version_is_loaded(
    database, queries, repository, other_database, run, cells, tmp_path
):
    name = run(cells, 1)
    row = queries.results(run=name)[0]
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO storebench.executor (attempt_id, executor) VALUES (%s, '1')", (row["attempt_id"],)
        )
    Bundles(database).export(run_id_of("s", name), tmp_path / "run.zip")
    former(tmp_path / "run.zip")
    _, new = Bundles(other_database).load(tmp_path / "run.zip")
    assert (new["attempt"], new["executor"], new["parameters"]) == (4, 1, 0)
    rows = Queries(other_database).results(run=name)
    assert {row["parameters_hash"] for row in rows} == {row["parameters"] for row in rows} == {None}
    assert {(row["disturbed"], row["client_bound"], row["figures_cover"]) for row in rows} == {(None,) * 3}
    assert [row["executor_pods"] for row in rows if row["executor_pods"]] == [1]
    with psycopg.connect(other_database) as connection:
        assert connection.execute(
            "SELECT count(*), count(parameters_hash) FROM storebench.summary"
        ).fetchone() == (
            4,
            0,
        )


def test_a_bundle_of_a_newer_version_is_refused(database, other_database, run, cells, tmp_path):
    Bundles(database).export(run_id_of("s", run(cells)), tmp_path / "run.zip")
    with psycopg.connect(other_database) as connection:
        connection.execute("ALTER TABLE storebench.run_cell DROP COLUMN node_pool")
    with pytest.raises(SpecError, match='newer version of Storebench: column "node_pool"'):
        Bundles(other_database).load(tmp_path / "run.zip")


def test_a_bundle_that_was_touched_is_refused(database, run, cells, tmp_path):
    Bundles(database).export(run_id_of("s", run(cells)), tmp_path / "run.zip")
    with (
        zipfile.ZipFile(tmp_path / "run.zip") as old,
        zipfile.ZipFile(tmp_path / "touched.zip", "w") as new,
    ):
        for member in old.namelist():
            new.writestr(member, old.read(member).replace(b'"operation_s": 1.01', b'"operation_s": 0.5'))
    with pytest.raises(SpecError, match="its checksums are wrong"):
        Bundles(database).load(tmp_path / "touched.zip")
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(SpecError, match="cannot be read as a bundle"):
        Bundles(database).load(tmp_path / "text.zip")


def test_pruning_takes_old_runs_and_what_only_they_have(other_database, database, run, cells, tmp_path):
    old, kept, new = run(cells, params={**PARAMS, "pod_cpu": "2"}), run(cells), run(cells[:1])
    for name in (old, kept, new):
        Bundles(database).export(run_id_of("s", name), tmp_path / "run.zip")
        Bundles(other_database).load(tmp_path / "run.zip")
    Repository(other_database).set_baseline("kept", run_id_of("s", kept))
    month_ago = datetime.now(UTC) - timedelta(days=30)
    with psycopg.connect(other_database) as connection:
        connection.execute(
            "UPDATE storebench.run SET started_at = %s WHERE airflow_run_id <> %s", (month_ago, new)
        )
    pruning = Pruning(other_database)
    before = datetime.now(UTC) - timedelta(days=7)
    assert pruning.old(before) == (1, 20)
    refresh(Repository(other_database), pruning.remove(before))
    assert pruning.old(before) == (0, 0)
    assert {row["airflow_run_id"] for row in Queries(other_database).runs(10)} == {kept, new}
    with psycopg.connect(other_database) as connection:
        (counts,) = connection.execute(
            "SELECT (SELECT count(*) FROM storebench.attempt), (SELECT count(*) FROM storebench.cell),"
            " (SELECT sum(n) FROM storebench.statistic), (SELECT count(*) FROM storebench.parameters)"
        ).fetchall()
    assert counts == (30, 2, 30, 1)
