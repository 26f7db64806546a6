"""Counters of attempts in the real database: rows, view, API, command, bundle and removal."""

import csv
import io
import json
from datetime import UTC, datetime

import psycopg
import pytest
from click.testing import CliRunner

from bench.scratch import scratch
from storebench.cli import main
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import run_id_of
from storebench.results.export.bundle import Bundles
from storebench.results.runs.prune import Pruning
from tests.integration.recorded import STUDY
from tests.integration.test_page import client, get, stranger

__all__ = ["client", "stranger"]

COUNTERS = {
    "merges": {"unit": "", "kind": "counter", "before": 12, "after": 14},
    "merge_s": {"unit": "s", "kind": "counter", "before": 0.25, "after": 1.5},
    "cache_bytes": {"unit": "bytes", "kind": "gauge", "before": 9e6, "after": 4e6},
    "gc_s": {"unit": "s", "kind": "counter", "unknown": "refused, =1+1"},
}
FIGURES = {
    "merges": {**COUNTERS["merges"], "difference": 2, "unknown": None},
    "merge_s": {**COUNTERS["merge_s"], "difference": 1.25, "unknown": None},
    "cache_bytes": {**COUNTERS["cache_bytes"], "difference": -5e6, "unknown": None},
    "gc_s": {**COUNTERS["gc_s"], "before": None, "after": None, "difference": None},
}


@pytest.fixture
def name(run, cells):
    """Record a run whose writes of one cell have counters, and return the run's name."""
    counted = lambda cell, operation: cell == cells[0] and operation == "write"
    return run(cells, 2, figures=lambda *of: {"counters": COUNTERS} if counted(*of) else {})


def test_the_view_has_a_row_for_each_counter_with_its_difference(database, name):
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "SELECT repeat, operation, name, unit, kind, before, after, difference, unknown FROM storebench.counters"
            " WHERE run = %s ORDER BY repeat, position",
            (name,),
        ).fetchall()
    assert rows == [
        (
            repeat,
            "write",
            counter,
            *(figure[of] for of in ("unit", "kind", "before", "after", "difference", "unknown")),
        )
        for repeat in (1, 2)
        for counter, figure in FIGURES.items()
    ]


def test_the_api_answers_a_runs_counters_and_an_attempts(client, name, cells):
    items = get(client, "counters", run=name)["items"]
    assert [(item["cell_key"], item["operation"], item["repeat"]) for item in items] == [
        (cells[0].key, "write", 1),
        (cells[0].key, "write", 2),
    ]
    assert all(item["counters"] == FIGURES for item in items)
    assert list(items[0]["counters"]) == list(FIGURES), "the order of the declarations"
    (item,) = get(client, "counters", run=name, attempt=items[1]["attempt_id"])["items"]
    assert item == items[1]


def test_nobody_sees_the_counters_of_a_run_whose_dag_they_may_not_read(stranger, name):
    get(stranger, "counters", run=run_id_of(STUDY, name), answers=404)


def test_the_command_prints_counters(database, name, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    monkeypatch.setenv("COLUMNS", "200")

    def printed(*arguments):
        done = CliRunner().invoke(main, ["results", "--run", name, "--counters", *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    table = printed()
    assert "merge_s" in table and "1.25 s" in table and "-5.00 MB" in table
    rows = list(csv.DictReader(io.StringIO(printed("--format", "csv"))))
    assert len(rows) == 8 and {row["name"]: row["difference"] for row in rows}["merges"] == "2.0"
    told = json.loads(printed("--format", "json"))
    assert [attempt["counters"] for attempt in told] == [FIGURES, FIGURES]
    assert "no attempt has counters" in printed("--store", "mongodb", "--cell", "batch=20")


def test_a_bundle_has_them_and_a_removed_run_leaves_none(database, name, tmp_path):
    Bundles(database).export(run_id_of(STUDY, name), tmp_path / "run.zip")
    with scratch(database) as uri:
        migrate(uri)
        assert Bundles(uri).load(tmp_path / "run.zip")[1]["counter"] == 8
        Pruning(uri).remove(datetime(2100, 1, 1, tzinfo=UTC))
        with psycopg.connect(uri) as connection:
            assert connection.execute("SELECT count(*) FROM storebench.counter").fetchone() == (0,)
