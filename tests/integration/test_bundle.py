"""Runs as files, and the removal of old ones; in the real database."""

import hashlib
import zipfile
from collections import Counter
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.types.json import Jsonb

from bench.scratch import scratch
from storebench.errors import SpecError
from storebench.results.database import study_views
from storebench.results.database.migrate import migrate
from storebench.results.database.queries import Queries
from storebench.results.database.repository import Repository, run_id_of
from storebench.results.export.bundle import Bundles
from storebench.results.runs.prune import Pruning
from storebench.results.runs.summary import refresh
from tests.bulk import EARLIER_BUNDLE
from tests.integration.recorded import PARAMS, STUDY


@pytest.fixture
def other_database(database):
    """Yield a second, empty database."""
    with scratch(database) as uri:
        migrate(uri)
        yield uri


def test_a_run_goes_into_another_database_whole_and_only_once(
    database, queries, other_database, run, cells, tmp_path
):
    name = run(cells)
    run_id = run_id_of(STUDY, name)
    Bundles(database).export(run_id, tmp_path / "run.zip")
    other = Bundles(other_database)
    loaded, new = other.load(tmp_path / "run.zip")
    assert loaded == run_id
    assert (new["attempt"], new["phase"]) == (20, 40)
    assert set(other.load(tmp_path / "run.zip")[1].values()) == {0}
    here, there = (
        [dict(row) for row in each.results(run=name)] for each in (queries, Queries(other_database))
    )
    assert here == there
    with psycopg.connect(other_database) as connection:
        lines = "SELECT count(*) FROM storebench.summary WHERE metric IN ('only_s', 'write_s')"
        assert connection.execute(lines).fetchone() == (4,)
        found = connection.execute(
            f"SELECT batch, rows, coalesce(write_s, only_s) FROM storebench.{STUDY}"
        ).fetchall()
    assert sorted(found) == sorted(
        (cell.value("batch"), 1000, 1 + repeat / 100)
        for cell in cells
        for repeat in range(1, 6)
        for _ in range(2)
    )
    other.export(run_id, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "run.zip").read_bytes()


def test_a_bundle_brings_its_study_and_what_is_beside_its_attempts(
    database, repository, other_database, run, cells, tmp_path
):
    name = run(cells[:1], 1)
    (row, _) = repository.results(run=name)
    content = {"values": [0.5, 1], "counts": [3, 1]}
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO storebench.artifact VALUES (%s, 'latency_s', %s)",
            (row["attempt_id"], Jsonb(content)),
        )
    Bundles(database).export(row["run_id"], tmp_path / "run.zip")
    with psycopg.connect(other_database) as connection:  # as if it had never had the study
        study_views.drop(connection.cursor(), STUDY)
        connection.execute("DELETE FROM storebench.study")
    other = Queries(other_database)
    assert Bundles(other_database).load(tmp_path / "run.zip")[1]["study"] == 1
    assert other.study(STUDY) == repository.study(STUDY)
    assert [one["content"] for one in other.artifacts([row["attempt_id"]])] == [content]
    with psycopg.connect(other_database) as connection:
        assert connection.execute(f"SELECT count(*) FROM storebench.{STUDY}_latest").fetchone() == (2,)


def test_a_bundle_whose_study_is_called_as_a_table_is_refused(database, other_database, run, cells, tmp_path):
    Bundles(database).export(run_id_of(STUDY, run(cells[:1], 1)), tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist()}
    members = {name: content.replace(STUDY.encode(), b"summary") for name, content in members.items()}
    del members["SHA256SUMS"]
    sums = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    members["SHA256SUMS"] = "".join(sums).encode()
    with zipfile.ZipFile(tmp_path / "summary.zip", "w") as bundle:
        for name, content in members.items():
            bundle.writestr(name, content)
    with pytest.raises(SpecError, match="'summary': summary is a table of the results"):
        Bundles(other_database).load(tmp_path / "summary.zip")
    assert Queries(other_database).runs(10) == []


def test_a_bundle_of_a_newer_version_is_refused(database, other_database, run, cells, tmp_path):
    Bundles(database).export(run_id_of(STUDY, run(cells)), tmp_path / "run.zip")
    with psycopg.connect(other_database) as connection:
        connection.execute("ALTER TABLE storebench.run_cell DROP COLUMN node_pool")
    with pytest.raises(SpecError, match='newer version of Storebench: column "node_pool"'):
        Bundles(other_database).load(tmp_path / "run.zip")


def test_a_bundle_that_was_touched_is_refused(database, run, cells, tmp_path):
    Bundles(database).export(run_id_of(STUDY, run(cells)), tmp_path / "run.zip")
    with (
        zipfile.ZipFile(tmp_path / "run.zip") as old,
        zipfile.ZipFile(tmp_path / "touched.zip", "w") as new,
    ):
        for member in old.namelist():
            new.writestr(member, old.read(member).replace(b'"value": 1.01', b'"value": 0.5'))
    with pytest.raises(SpecError, match="its checksums are wrong"):
        Bundles(database).load(tmp_path / "touched.zip")
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(SpecError, match="cannot be read as a bundle"):
        Bundles(database).load(tmp_path / "text.zip")


def test_a_run_of_an_earlier_version_is_loaded_whole_and_only_once(other_database):
    bundles, queries = Bundles(other_database), Queries(other_database)
    run_id, new = bundles.load(EARLIER_BUNDLE)
    assert (new["attempt"], new["phase"], new["usage"]) == (33, 386, 34)
    assert set(bundles.load(EARLIER_BUNDLE)[1].values()) == {0}
    rows = queries.results(run=run_id)
    assert Counter(row["status"] for row in rows) == {"verified": 31, "not_run": 2}
    assert {row["method_version"] for row in rows} == {2}
    with psycopg.connect(other_database) as connection:
        lines = "SELECT count(*), min(n), max(n) FROM storebench.bulk_write_read_summary WHERE metric IN ('only_s', 'write_s')"
        assert connection.execute(lines).fetchone() == (45, 1, 1), "31 only_s, and write_s of the 14 writes"


def test_pruning_takes_old_runs_and_what_only_they_have(other_database, database, run, cells, tmp_path):
    old, kept, new = run(cells, params={**PARAMS, "pod_cpu": "2"}), run(cells), run(cells[:1])
    for name in (old, kept, new):
        Bundles(database).export(run_id_of(STUDY, name), tmp_path / "run.zip")
        Bundles(other_database).load(tmp_path / "run.zip")
    Repository(other_database).set_baseline("kept", run_id_of(STUDY, kept))
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
            " (SELECT sum(n) FROM storebench.statistic WHERE metric IN ('only_s', 'write_s')), (SELECT count(*) FROM storebench.parameters)"
        ).fetchall()
    assert counts == (30, 2, 30, 1)
