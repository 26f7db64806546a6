"""The results page's API: what it reads, for whom, and that it can only read. In the real database."""

import json
from datetime import UTC, datetime

import psycopg
import pytest
from airflow.api_fastapi.core_api.security import get_user
from fastapi.testclient import TestClient
from psycopg.conninfo import conninfo_to_dict

from storebench.attempt.result import AttemptResult
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.errors import SpecError
from storebench.results.migrate import grant
from storebench.results.price import prices
from storebench.results.queries import Queries
from storebench.results.repository import AttemptKey, PodRecord, dataset_id, run_id_of
from storebench.web.access import GridDag, grid_dag, reading
from storebench.web.api import app
from storebench.web.reading import Reading
from storebench.web.report import write_report
from tests.integration.conftest import required
from tests.integration.recorded import ENVIRONMENT, PARAMS, STUDY

PRICES = {"cpu_hour": 1, "gib_hour": 1}


@pytest.fixture
def client(database):
    """The API for somebody who may read the DAG of the tests' runs; who that is, is Airflow's to say."""
    app.dependency_overrides = {get_user: lambda: None, reading: lambda: Reading(database, [STUDY])}
    yield TestClient(app)
    app.dependency_overrides = {}


@pytest.fixture
def stranger(database):
    """Likewise for somebody who may read nothing."""
    app.dependency_overrides = {get_user: lambda: None, reading: lambda: Reading(database, [])}
    yield TestClient(app)
    app.dependency_overrides = {}


def get(client, path, /, answers=200, **query):
    answer = client.get(f"/api/{path}", params=query)
    assert answer.status_code == answers, answer.text
    return answer.json()


def test_a_run_with_its_turns_cells_and_phases(client, run, cells):
    name = run(cells, 6)
    found = get(client, "run", run=name)
    assert (found["id"], found["state"]) == (run_id_of(STUDY, name), "success")
    assert (found["planned"], found["verified"], found["failed"], found["not_run"]) == (24, 24, 0, 0)
    dataset = (cells[0].rows, cells[0].seed)
    assert (found["stores"], found["cells"], found["cell_key"]) == (["mongodb"], 2, None)
    assert (found["rows"], found["seed"]) == dataset

    turns = get(client, "turns", run=name)["items"]
    assert [turn["map_index"] for turn in turns] == list(range(12))
    assert {turn["batch_size"] for turn in turns} == {"10", "20"}
    assert {(turn["rows"], turn["seed"]) for turn in turns} == {dataset}

    page = get(client, "cells", run=name)
    assert not page["more"]
    assert [(cell["batch_size"], cell["operation"]) for cell in page["items"][:2]] in (
        [("10", "write"), ("10", "read")],
        [("20", "write"), ("20", "read")],
    )
    for cell in page["items"]:
        assert sorted(attempt["only_s"] for attempt in cell["attempts"]) == [1 + n / 100 for n in range(1, 7)]
        assert cell["only_s"] == {
            "n": 6,
            "median": pytest.approx(1.035),
            "low": 1.01,
            "high": 1.06,
            "coverage": 0.96875,
        }
        assert cell["memory_bytes"] is None
        assert (cell["rows"], cell["seed"]) == dataset
        assert cell["rows_per_s"]["median"] == pytest.approx(1000 / 1.035, rel=1e-3)

    assert get(client, "phases", run=name)["items"][0]["phases"] == {"operation": 1.0}


def test_what_marks_an_attempt_is_told(client, repository, run, cells):
    """A disturbed attempt is counted as such; by memory, clients are ranked before engines, each by themselves."""
    name = run(cells, 1)
    figures = [
        ("write", 1, "client", 100, {"durability": "disk", "durability_stated": "j=true"}),
        ("write", 2, "engine", 400, {"durability": "s3", "disturbed": "throttled in 3 periods"}),
        ("read", 1, "client", 300, {"delivers": "raw BSON"}),
        ("read", 2, "engine", 200, {"delivers": "Arrow", "disturbed": "lost 1 of 2 executors"}),
    ]
    for operation, number, cover, memory_bytes, marks in figures:
        repository.add_attempt(
            AttemptKey(run_id_of(STUDY, name), cells[number - 1].key, 1, operation, 2),
            AttemptResult(
                status="verified",
                operation_s=1.0,
                figures_cover=cover,
                memory_working_set_peak_bytes=memory_bytes,
                **marks,
            ),
            PodRecord(),
            phases={},
            target=None,
            dataset=None,
        )
    found = get(client, "run", run=name)
    assert (found["verified"], found["disturbed"], found["failed"]) == (4, 2, 0)
    ranked = get(client, "attempts", run=name, sort="all_memory_working_set_peak_bytes")["items"][:4]
    assert [row["all_memory_working_set_peak_bytes"] for row in ranked] == [300, 100, 400, 200]
    assert [row["figures_cover"] for row in ranked] == ["client", "client", "engine", "engine"]
    assert [row["delivers"] for row in ranked] == ["raw BSON", None, None, "Arrow"]
    assert [row["durability"] for row in ranked] == [None, "disk", "s3", None]
    assert ranked[2]["disturbed"] == "throttled in 3 periods"


def test_what_is_long_comes_in_pages(client, run, cells):
    name = run(cells, 2)
    first = get(client, "turns", run=name, limit=3)
    rest = get(client, "turns", run=name, limit=3, offset=3)
    assert (first["more"], rest["more"]) == (True, False)
    assert [turn["map_index"] for turn in first["items"] + rest["items"]] == [0, 1, 2, 3]
    first = get(client, "cells", run=name, limit=1)
    rest = get(client, "cells", run=name, limit=1, offset=1)
    assert (first["more"], rest["more"]) == (True, False)
    assert {cell["cell_key"] for cell in first["items"] + rest["items"]} == {cell.key for cell in cells}


def test_attempts_are_sorted_and_filtered(client, run, cells):
    name = run(cells, 3, lambda cell, turn: float(dict(cell.axes)["batch"]) + turn.repeat)
    rows = get(client, "attempts", run=name, sort="only_s", descending=False, operation="read")["items"]
    assert [row["only_s"] for row in rows] == [11, 12, 13, 21, 22, 23]
    assert {row["operation"] for row in rows} == {"read"}
    assert [row["rows_per_s"] for row in rows[:2]] == [pytest.approx(1000 / 11), pytest.approx(1000 / 12)]
    fastest = get(client, "attempts", run=name, sort="rows_per_s", operation="read")["items"]
    assert [row["only_s"] for row in fastest] == [11, 12, 13, 21, 22, 23]
    assert get(client, "attempts", run=name, store="null")["items"] == []
    assert len(get(client, "attempts", cell=cells[0].key, status="verified")["items"]) == 6


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"store": "mongo"}, 4),
        ({"store": "GODB"}, 4),
        ({"store": ""}, 4),
        ({"store": "mongo", "client": "fer"}, 4),
        ({"store": "mongo", "client": "tuned"}, 0),
        ({"store": "mongo%"}, 0),
        ({"store": "m_ngodb"}, 0),
    ],
)
def test_filters_match_parts_of_names(client, run, cells, query, found):
    assert len(get(client, "attempts", run=run(cells, 1), **query)["items"]) == found


def test_of_what_was_tried_again_the_newest_try_counts(client, repository, run, cells):
    """Both tries are in the table; the earlier one is marked, and no count has it."""
    name = run(cells[:1], 1)
    repository.add_attempt(
        AttemptKey(run_id_of(STUDY, name), cells[0].key, 1, "read", 2),
        AttemptResult(status="verified", operation_s=5.0),
        PodRecord(),
        phases={},
        target=None,
        dataset=None,
    )
    found = get(client, "run", run=name)
    assert (found["planned"], found["verified"], found["cells"], found["cell_key"]) == (2, 2, 1, cells[0].key)
    rows = get(client, "attempts", run=name)["items"]
    assert {(row["operation"], row["try_number"]): row["superseded"] for row in rows} == {
        ("write", 1): False,
        ("read", 1): True,
        ("read", 2): False,
    }
    shown = [attempt for cell in get(client, "cells", run=name)["items"] for attempt in cell["attempts"]]
    assert [(row["operation"], row["try_number"]) for row in shown] == [("write", 1), ("read", 2)]


def test_what_a_gb_cost_is_what_the_command_line_says(client, database, repository, run, cells):
    name = run(cells, 1)
    repository.add_attempt(
        AttemptKey(run_id_of(STUDY, name), cells[0].key, 1, "write", 2),
        AttemptResult(
            status="verified",
            operation_s=1.0,
            total_s=3600.0,
            cpu_s=7200.0,
            memory_working_set_peak_bytes=2**30,
            figures_cover="client",
        ),
        PodRecord(),
        phases={},
        target=None,
        dataset=dataset_id(SCHEMA_VERSION, cells[0].rows, cells[0].seed),
    )
    found = get(client, "prices", run=name, cpu_hour=0.5, gib_hour=0.25)["items"]
    queries = Queries(database)
    same = prices(queries.attempts_of_run(queries.run_named(name)["id"]), 0.5, 0.25)
    by_key = {(price.cell_key, price.operation): price for price in same}
    assert len(found) == len(by_key) == 4
    for one in found:
        assert {key: one[key] for key in vars(same[0])} == vars(by_key[one["cell_key"], one["operation"]])
    cheapest = found[0]
    assert (cheapest["store"], cheapest["rows"], cheapest["operation"]) == ("mongodb", 1000, "write")
    assert cheapest["cost_per_gb"] == pytest.approx((2 * 0.5 + 1 * 0.25) * 1e9)  # of a dataset of one byte
    first = get(client, "prices", run=name, cpu_hour=1, gib_hour=1, limit=1)
    assert (len(first["items"]), first["more"]) == (2, True)
    get(client, "prices", run=name, cpu_hour=-1, gib_hour=1, answers=422)
    get(client, "prices", run=name, answers=422)


def test_text_never_becomes_sql(client, run, cells):
    run(cells, 1)
    bad = "x'; DROP TABLE storebench.attempt; --"
    assert get(client, "attempts", store=bad)["items"] == []
    assert get(client, "cell-keys", containing=bad) == []
    get(client, "run", run=bad, answers=404)
    get(client, "attempts", sort=bad, answers=422)


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": 501},
        {"offset": -1},
        {"limit": "many"},
        {"status": "good"},
        {"store": "x" * 501},
    ],
)
def test_a_bad_question_is_refused(client, query):
    get(client, "attempts", answers=422, **query)


def test_two_runs_are_compared(client, run, cells):
    before = run(cells, 8)
    after = run(cells, 8, lambda cell, turn: 2 + turn.repeat / 100, {**ENVIRONMENT, "kernel": "6.2"})
    found = get(client, "compare", before=before, after=after)
    assert {(verdict["label"], verdict["reason"]) for verdict in found["verdicts"]} == {("slower", None)}
    assert found["caution"].startswith("One run on each side")
    assert found["differences"] == ["mongodb: kernel: 6.1 -> 6.2"]
    assert found["before"]["airflow_run_id"] == before


def test_what_cannot_be_told_says_why(client, run, cells):
    found = get(client, "compare", before=run(cells, 1), after=run(cells, 1))
    assert {verdict["label"] for verdict in found["verdicts"]} == {"cannot tell"}
    assert {verdict["reason"] for verdict in found["verdicts"]} == {
        "too few repeats (A has 1, B 1; 3 at least): the noise is not known"
    }


def test_a_studys_grid_says_what_is_missing_with_these_parameters(client, database, run, cells):
    run(cells[:1], 2)
    dataset = {"rows": cells[0].rows, "seed": cells[0].seed}
    defaults = {**dataset, "repeats": 2, "warm_up": False, "a_a": False, **PARAMS}
    dates = {f"mongodb/reference/batch={size}": datetime(2001, 1, size, tzinfo=UTC) for size in (10, 20)}
    dag = GridDag(STUDY, dates, defaults, False, Reading(database, [STUDY]))
    app.dependency_overrides[grid_dag] = lambda: dag

    def states(**params):
        found = get(client, "grid", dag=STUDY, params=json.dumps(params))
        assert found["conf"].items() >= {**dataset, **params}.items()
        return [(cell["state"], cell["operations"]) for cell in found["cells"]]

    assert states() == [("verified 2 times", 0), ("missing", 4)]
    assert states(repeats=3) == [("verified 2 times", 2), ("missing", 6)]
    assert states(pod_memory="12Gi") == [("missing", 4), ("missing", 4)]
    assert [one["name"] for one in get(client, "parameters", dag=STUDY)][:3] == ["rows", "seed", "repeats"]


def test_nobody_sees_a_run_whose_dag_they_may_not_read(stranger, run, cells):
    name = run(cells, 1)
    assert get(stranger, "runs")["items"] == []
    assert get(stranger, "attempts")["items"] == []
    assert get(stranger, "cell-keys") == []
    for path in ("run", "turns", "cells", "phases", "prices"):
        for asked in (name, run_id_of(STUDY, name), "latest"):
            get(stranger, path, run=asked, answers=404, **PRICES if path == "prices" else {})
    get(stranger, "compare", before=name, after=name, answers=404)


def test_a_database_that_is_away_is_said_to_be(client):
    app.dependency_overrides[reading] = lambda: Reading("postgresql://x:secret@127.0.0.1:1/none", [STUDY])
    answer = get(client, "runs", answers=503)
    assert answer == {"detail": "The results database does not answer"}


def test_the_readers_role_can_only_read(database, run, cells):
    run(cells, 1)
    server, _, _ = required("AIRFLOW_CONN_STOREBENCH_READER").rpartition("/")
    reader = f"{server}/{database.rpartition('/')[2]}"
    grant(database, conninfo_to_dict(reader)["user"])
    assert Reading(reader, [STUDY]).runs_page(1, 0)
    with psycopg.connect(reader) as connection:
        for statement in (
            "DELETE FROM storebench.attempt",
            "UPDATE storebench.run SET state = 'success'",
            "INSERT INTO storebench.baseline (name, run_id) VALUES ('x', 'y')",
            "CREATE TABLE storebench.mine (n integer)",
            "CREATE TABLE public.mine (n integer)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)


def test_every_route_asks_who_it_is():
    described = app.openapi()["paths"]
    assert len(described) == 11
    for path in described:
        assert TestClient(app).get(path).status_code == 401, path
    for path in ("/static/page.js", "/openapi.json"):
        assert TestClient(app).get(path).status_code == 401, path
    assert TestClient(app).get("/docs").status_code == 404


def test_a_report_has_all_of_a_run_and_nothing_in_it_runs(database, repository, run, cells, tmp_path):
    name = run(cells, 3)
    bad = "</script><script>alert(1)</script>"
    repository.add_attempt(
        AttemptKey(run_id_of(STUDY, name), cells[0].key, 1, "write", 2),
        AttemptResult(status="failed", error_kind="store_failed", error=bad),
        PodRecord(),
        phases={},
        target=None,
        dataset=None,
    )
    paths = write_report(database, name, tmp_path / "new")
    assert [path.name for path in paths] == ["report.html", "attempts.csv", "attempts.json"]
    document = paths[0].read_text()
    assert bad not in document
    assert document.count("</script>") == 2
    content = json.loads(document.partition('id="content">')[2].partition("</script>")[0])
    assert content["run"]["airflow_run_id"] == name
    assert bad in {attempt["error"] for cell in content["cells"] for attempt in cell["attempts"]}
    assert len(json.loads(paths[2].read_text())) == 13
    assert {(cell["rows"], cell["seed"]) for cell in content["cells"]} == {(1000, cells[0].seed)}
    (environment,) = content["environments"]
    assert (environment["kernel"], environment["packages.pymongo"]) == ("6.1", "4")


def test_a_report_of_an_unknown_run_is_refused(database, tmp_path):
    with pytest.raises(SpecError, match="There is no run 'nothing'"):
        write_report(database, "nothing", tmp_path)
    assert not list(tmp_path.iterdir())
