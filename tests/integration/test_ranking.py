"""A ranking from the real database: API, command line and views agree on the same runs."""

import json

import psycopg
import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient
from psycopg.rows import dict_row

from storebench.airflow.compat.api_server import get_user
from storebench.cli import main
from storebench.results.runs.conditions import conditions_of
from storebench.servers.sizes import FIELDS
from storebench.study.order import turns
from storebench.web.access import reading
from storebench.web.api import app
from storebench.web.reading import Reading
from tests.bulk import RANKED_BY, bulk_study, cell_at
from tests.integration.recorded import ENVIRONMENT, PARAMS, ROWS, STUDY

STORES = ("mongodb", "elasticsearch", "null", "delta-spark")
TOOK_S = {"mongodb": 2.0, "elasticsearch": 3.0, "null": 0.1, "delta-spark": 1.0}
DURABILITY = {"mongodb": "disk", "elasticsearch": "disk", "null": "none", "delta-spark": "s3"}


@pytest.fixture
def client(database):
    """Yield the API for a user who may read the DAG of the tests' runs."""
    app.dependency_overrides = {get_user: lambda: None, reading: lambda: Reading(database, [STUDY])}
    yield TestClient(app)
    app.dependency_overrides = {}


@pytest.fixture
def command(database, monkeypatch):
    """Return a function that runs `storebench ranking` with options and returns its output."""
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)

    def run(*options, code=0):
        result = CliRunner().invoke(main, ["ranking", "--study", STUDY, *options])
        assert result.exit_code == code, result.output
        return result.output

    return run


@pytest.mark.parametrize("metric", [None, "rows_per_s", "work_total_s", "all_cpu_s"])
def test_what_is_compared_of_attempts_is_what_their_whole_rows_say(queries, run, cells, metric):
    name = run(cells, 3, figures=lambda cell, operation: {"cpu_s": 1.5, "disturbed": "throttled"})
    run_id = queries.run_named(name)["id"]
    whole = queries.ranked(queries.attempts_of_run(run_id), metric)
    found = queries.reported(queries.compared_of_run(run_id, metric), metric)
    assert len(found) == 12 and {row["value"] for row in found} != {None}
    assert found == [{name: row[name] for name in found[0]} for row in whole]
    assert queries.compared_of_cell(cells[0].key, metric) == [
        {name: row[name] for name in row.keys() - {"unit", "better"}}
        for row in found
        if row["cell_key"] == cells[0].key
    ]


def test_a_query_reads_no_table_of_the_view_that_it_asks_nothing_of(database):
    with psycopg.connect(database) as connection:
        plan = connection.execute("EXPLAIN SELECT value FROM storebench.results WHERE run_id = 'r'")
        told = "\n".join(line for (line,) in plan)
    assert "on attempt" in told
    assert not [name for name in ("run", "run_cell", "cell", "dataset", "usage") if f" on {name}" in told]


@pytest.fixture
def measured(run, cells):
    """Record the stores' cells in two runs of three repeats each. Return their seed."""
    seed = cells[0].seed
    axes = {store: {"executors": 1} if store == "delta-spark" else {} for store in STORES}
    some = [cell_at(store, seed, batch="10", **axes[store]) for store in STORES]
    for _ in range(2):
        run(
            some,
            3,
            lambda cell, turn: TOOK_S[cell.store] * (1 + turn.repeat / 1000),
            figures=lambda cell, operation: {
                "durability": DURABILITY[cell.store] if operation == "write" else None,
                "figures_cover": "client",
                "client_cpu_share": 0.5,
                "client_cores_usable": 1.0,
            },
        )
    return seed


def get(client, answers=200, **query):
    answer = client.get("/api/ranking", params={"study": STUDY, **query})
    assert answer.status_code == answers, answer.text
    return answer.json()


def places(found):
    return [(line["place"], line["store"], line["verdict"]) for line in found["ranked"]]


def test_all_runs_of_the_same_environment_are_ranked(client, measured):
    found = get(client, seed=measured, alike=True)
    assert places(found) == [(1, "mongodb", "the best"), (1, "elasticsearch", "cannot tell")]
    line = found["ranked"][1]
    # two runs are two units, and five are needed
    assert line["reason"].startswith("too few runs (A has 2, B 2; 5 at least)")
    assert (line["spread"]["n"], line["runs"], line["relative_to_best"]) == (6, 2, pytest.approx(1.5))
    assert line["spread"]["median"] == pytest.approx(3.006)
    assert (line["guarantee"], found["guarantee"], found["guarantees"]) == ("disk", "disk", ["disk", "s3"])
    assert line["origin"]["servers"] == ["FerretDB"]
    assert {one["store"]: [why["reason"] for why in one["reasons"]] for one in found["excluded"]} == {
        "null": ["floor"],
        "delta-spark": ["unlike"],
    }
    assert found["axes"] == {
        "batch": "10",
        "executors": "*",
        "maintenance": "off",
        "pods": "1",
        "fault": "none",
    }
    assert (found["operation"], found["metric"], found["unit"], found["better"]) == (
        "write",
        RANKED_BY["write"],
        "s",
        "lower",
    )
    assert (found["rows"], found["seed"]) == (ROWS, measured)
    assert found["studies"] == [STUDY]
    (environment,) = found["environments"]
    assert (environment["id"], environment["cells"]) == (found["environment"], 4)


def test_all_stores_are_ranked_with_their_differences(client, measured):
    found = get(client, seed=measured)
    assert [line["store"] for line in found["ranked"]] == ["delta-spark", "mongodb", "elasticsearch"]
    assert [[why["reason"] for why in line["differences"]] for line in found["ranked"]] == [
        ["unlike"],
        [],
        [],
    ]
    assert (found["guarantee"], found["alike"]) == (None, False)
    assert [one["store"] for one in found["excluded"]] == ["null"]


def test_five_runs_tell_them_apart(client, run, cells):
    seed = cells[0].seed
    some = [cell_at(store, seed, batch="10") for store in ("mongodb", "elasticsearch")]
    for n in range(5):
        run(
            some,
            1,
            lambda cell, turn, n=n: TOOK_S[cell.store] * (1 + n / 10) * (1 + len(cell.store) * n / 1e4),
        )
    found = get(client, seed=seed)
    assert places(found) == [(1, "mongodb", "the best"), (2, "elasticsearch", "worse")]
    assert found["ranked"][1]["ratio_low"] == pytest.approx(1.5, rel=0.01)
    assert found["caution"] is None


def test_another_choice_is_another_ranking(client, measured):
    asked = {"seed": measured, "operation": "read", "metric": "rows_per_s", "include": ["floor"]}
    found = get(client, **asked, axis=["executors=1"])
    assert places(found)[0] == (1, "null", "the best")
    assert found["ranked"][1]["relative_to_best"] == pytest.approx(10.0)
    assert (found["axes"], found["included"]) == (
        {"batch": "10", "executors": "1", "maintenance": "off", "pods": "1", "fault": "none"},
        ["floor"],
    )
    assert found["guarantee"] is None
    assert places(get(client, seed=measured, guarantee="s3")) == [(1, "delta-spark", "the best")]


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        ({"study": "nonesuch"}, 404),
        ({"operation": "nonesuch"}, 404),
        ({"metric": "source_s"}, 404),
        ({"rows": 7}, 404),
        ({"axis": ["batch=7"]}, 404),
        ({"environment": "nonesuch"}, 404),
        ({"guarantee": "x'; DROP TABLE storebench.attempt; --"}, 404),
        ({"include": ["disturbed"]}, 422),
        ({"margin_percent": 101}, 422),
        ({"axis": ["batch"]}, 422),
    ],
)
def test_what_cannot_be_ranked_so_is_refused(client, run, cells, query, answers):
    run(cells, 1)
    assert get(client, answers, **{"seed": cells[0].seed, **query})["detail"]


def test_a_stranger_sees_nothing_of_it(database, run, cells):
    run(cells, 1)
    app.dependency_overrides = {get_user: lambda: None, reading: lambda: Reading(database, ["others"])}
    answer = TestClient(app).get("/api/ranking", params={"study": STUDY, "seed": cells[0].seed})
    app.dependency_overrides = {}
    assert answer.status_code == 404 and "Unknown study" in answer.json()["detail"]


def test_the_command_says_what_the_page_says(client, command, measured):
    for flag, asked in ((["--alike"], {"alike": True}), ([], {})):
        told = json.loads(command("--seed", str(measured), "--format", "json", *flag))
        shown = get(client, seed=measured, **asked)
        # The command lists all studies of the database, the page the studies whose DAGs the user may read.
        assert {**told, "studies": [STUDY]} == shown
    assert "guarantees s3, and not disk" in command("--seed", str(measured))
    text = command("--seed", str(measured), "--alike")
    assert "the best" in text and "Excluded:" in text and "guarantees s3, and not disk" in text
    csv = command("--seed", str(measured), "--format", "csv").splitlines()
    assert (len(csv), csv[0].split(",")[:3]) == (5, ["study", "operation", "cell_key"])
    assert "--axis takes NAME=VALUE" in command("--axis", "batch", code=2)
    assert "Unknown axis 'nonesuch'" in command("--axis", "nonesuch=1", code=2)


def test_a_page_of_documentation_gets_short_tables(command, measured):
    seed = ("--seed", str(measured))
    lines = command(*seed, "--format", "markdown").splitlines()
    ranked = [line.strip("| ").split(" | ") for line in lines[2:5]]
    assert (
        lines[0]
        == "| place | store | client | batch | executors | median | interval | n | relative to the best | verdict | guarantee |"
    )
    assert [(line[0], line[1]) for line in ranked] == [
        ("=1", "delta-spark"),
        ("=1", "FerretDB (store mongodb)"),
        ("=1", "elasticsearch"),
    ]
    assert lines[-1].startswith("Not ranked: null reference 10 (floor, 0.100 s)")
    medians = command(*seed, "--across", "store", "--format", "csv").splitlines()
    assert medians[0] == "client,delta-spark,FerretDB (store mongodb),elasticsearch,null"
    assert len(medians) == 2 and medians[1].replace('"', "").startswith("reference,1.00 s (")
    shared = command(*seed, "--across", "store", "--format", "markdown").splitlines()[-1]
    assert shared == "Axes with one value: batch 10, executors 1."
    assert "executors 1" in command(*seed, "--across", "executors")
    assert "There are " in command(*seed, "--across", "nonesuch", code=2)
    assert "--across has no JSON" in command(*seed, "--across", "store", "--format", "json", code=2)


def test_a_cell_that_was_only_tried_is_named(client, repository, measured, cells):
    name = "manual__never"
    tried = cell_at("delta-rs", measured, batch="10")
    repository.start_run(
        study=bulk_study(),
        dag_id=STUDY,
        airflow_run_id=name + str(measured),
        params={},
        turns=turns({tried: 1}, 1),
        order_seed=1,
        skipped={},
    )
    (found,) = [one for one in get(client, seed=measured)["excluded"] if one["store"] == "delta-rs"]
    assert found["reasons"] == [{"reason": "not verified", "text": "none"}]
    assert found["spread"] is None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"params": {**PARAMS, "cache": "cold"}},
        {"params": {**PARAMS, **dict.fromkeys(FIELDS), "server_memory": "2Gi"}},
        {"environment": {**ENVIRONMENT, "cpus": 2, "cpu_model": "Example 9", "memory_gib": 24.5}},
    ],
    ids=["plain", "the study's own", "servers' sizes", "machine"],
)
def test_conditions_are_those_of_the_view(database, queries, run, cells, changes):
    some = [cells[0], cell_at("delta-spark", cells[0].seed, batch="10", executors=1)]
    run(some, 1, **changes)
    with psycopg.connect(database, row_factory=dict_row) as connection:
        rows = connection.execute(
            "SELECT * FROM storebench.latest WHERE cell_key = ANY(%s)", ([one.key for one in some],)
        ).fetchall()
    assert len(rows) == 4
    environments = queries.environments({row["environment_hash"] for row in rows})
    for row in rows:
        theirs = {name: row["conditions"].pop(name) for name in ("durability", "delivers")}
        assert theirs == {"durability": None, "delivers": None}
        environment = environments[row["environment_hash"]]
        assert conditions_of(queries.study(STUDY), row, environment) == row["conditions"]
