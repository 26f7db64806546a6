"""The results page's API on the real database: its answers, its users, and its read-only access."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient
from psycopg.conninfo import conninfo_to_dict

from storebench.airflow.compat.api_server import get_user
from storebench.attempt.result import AttemptResult
from storebench.cli import main
from storebench.errors import SpecError
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.migrate import grant
from storebench.results.database.queries import Queries
from storebench.results.database.repository import run_id_of
from storebench.results.forecast.price import prices
from storebench.results.leftovers.stopped import Going, RunStates
from storebench.study.order import turns
from storebench.web.access import GridDag, grid_dag, reading, run_states
from storebench.web.api import app
from storebench.web.reading import Reading
from storebench.web.report import write_report
from tests.bulk import RANKED_BY, bulk_study
from tests.integration.conftest import required
from tests.integration.recorded import ENVIRONMENT, PARAMS, PHASES, ROWS, STUDY, timed

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def client(database):
    """Yield the API for a user who may read the DAG of the tests' runs."""
    app.dependency_overrides = {
        get_user: lambda: None,
        reading: lambda: Reading(database, [STUDY]),
        run_states: lambda: RunStates(lambda *_: "running", lambda *_: None, lambda: None),
    }
    yield TestClient(app)
    app.dependency_overrides = {}


@pytest.fixture
def stranger(database):
    """Yield a client of a user who may read nothing."""
    app.dependency_overrides = {get_user: lambda: None, reading: lambda: Reading(database, [])}
    yield TestClient(app)
    app.dependency_overrides = {}


def get(client, path, /, answers=200, **query):
    answer = client.get(f"/api/{path}", params=query)
    assert answer.status_code == answers, answer.text
    return answer.json()


def test_a_run_that_was_stopped_in_airflow_is_told_before_it_is_closed(client, repository, cells):
    ended_at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    name = f"manual__{uuid.uuid4().hex}"
    repository.start_run(
        study=bulk_study(),
        dag_id=STUDY,
        airflow_run_id=name,
        params={},
        turns=turns(dict.fromkeys(cells, 1), 1),
        order_seed=1,
        skipped={},
    )
    for state, told in (("running", ("running", 0, False, None)), ("failed", ("failed", 4, True, ended_at))):
        states = RunStates(lambda *_, state=state: state, lambda *_: ended_at, lambda: None)
        app.dependency_overrides[run_states] = lambda states=states: states
        (listed,) = [one for one in get(client, "runs")["items"] if one["airflow_run_id"] == name]
        assert listed == get(client, "run", run=name)
        end = listed["finished_at"] and datetime.fromisoformat(listed["finished_at"])
        assert (listed["state"], listed["not_run"], listed["to_close"], end) == told
    assert listed["reason"] == "The run was stopped: marked as failed in Airflow"
    repository.finish_run(run_id_of(STUDY, name))


def test_a_run_with_its_turns_cells_and_phases(client, run, cells):
    name = run(cells, 6)
    found = get(client, "run", run=name)
    assert (found["id"], found["state"]) == (run_id_of(STUDY, name), "success")
    assert (found["planned"], found["verified"], found["failed"], found["not_run"]) == (24, 24, 0, 0)
    seed = cells[0].seed
    assert (found["stores"], found["cells"], found["cell_key"]) == (["mongodb"], 2, None)
    assert (found["rows"], found["seed"]) == (ROWS, seed)

    study = get(client, "study", name=found["study"])
    assert [(one["name"], one["metrics"][0]) for one in study["operations"]] == [
        ("write", RANKED_BY["write"]),
        ("maintain", "maintain_s"),
        ("read", RANKED_BY["read"]),
    ]
    assert [axis["name"] for axis in study["axes"]] == ["batch", "executors", "maintenance", "pods", "fault"]
    assert (study["dataset"]["name"], study["dataset"]["version"]) == ("", 1)
    assert not {"presets", "claims"} & study.keys(), "which have endpoints of their own"
    assert {metric["name"]: metric["better"] for metric in study["metrics"]} == {
        "write_s": "lower",
        "only_s": "lower",
        "rows_per_s": "higher",
        "source_s": "neither",
        "barrier_s": "lower",
        "maintain_s": "lower",
        "files_before": "neither",
        "files_after": "lower",
        "warm_passes": "neither",
        "resident_before_bytes": "neither",
        "needed_bytes": "neither",
        "disk_read_bytes": "lower",
        "cold_read_mb_per_s": "neither",
        "uncached_mb_per_s": "neither",
        "lost_acknowledged": "lower",
        "doubled": "lower",
        "unavailable_s": "lower",
        "unavailable_sum_s": "lower",
        "caught_up_s": "lower",
        "command_s": "lower",
        "fault_from_s": "neither",
        "fault_to_s": "neither",
        "fault_skew_s": "neither",
        "retried_batches": "lower",
    }

    turns = get(client, "turns", run=name)["items"]
    assert [turn["map_index"] for turn in turns] == list(range(12))
    assert {(turn["axes"]["batch"], turn["rows"], turn["seed"]) for turn in turns} == {
        ("10", ROWS, seed),
        ("20", ROWS, seed),
    }

    page = get(client, "cells", run=name)
    assert not page["more"]
    assert [(cell["axes"]["batch"], cell["operation"]) for cell in page["items"][:2]] in (
        [("10", "write"), ("10", "read")],
        [("20", "write"), ("20", "read")],
    )
    for cell in page["items"]:
        assert sorted(attempt["value"] for attempt in cell["attempts"]) == [1 + n / 100 for n in range(1, 7)]
        metric = RANKED_BY[cell["operation"]]
        assert {(attempt["metric"], attempt["unit"]) for attempt in cell["attempts"]} == {(metric, "s")}
        assert cell["figures"][metric] == {
            "n": 6,
            "median": pytest.approx(1.035),
            "interval_low": 1.01,
            "interval_high": 1.06,
            "interval_coverage": 0.96875,
        }
        assert cell["figures"].keys() == {metric, "rows_per_s", "work_total_s"}, "memory was not measured"
        assert cell["figures"]["rows_per_s"]["median"] == pytest.approx(ROWS / 1.035, rel=1e-3)

    assert get(client, "phases", run=name)["items"][0]["phases"] == PHASES


def test_one_attempts_phases_are_told_by_themselves_and_only_in_its_run(client, run, cells):
    name, other = run(cells, 2), run(cells, 1)
    attempt = get(client, "attempts", run=name)["items"][2]
    (found,) = get(client, "phases", run=name, attempt=attempt["attempt_id"])["items"]
    assert found["attempt"]["attempt_id"] == attempt["attempt_id"]
    assert (found["operation"], found["phases"]) == (attempt["operation"], PHASES)
    assert get(client, "phases", run=other, attempt=attempt["attempt_id"])["items"] == []
    get(client, "phases", run=name, attempt="x'; --", answers=422)


def test_what_an_attempt_ran_on_is_told(client, run, cells):
    machine = {"cpus": 2, "cpu_model": "Example 9", "memory_gib": 24}
    name = run(cells, 1, environment={**ENVIRONMENT, **machine})
    for path in ("attempts", "cells"):
        found = get(client, path, run=name)["items"]
        attempts = found if path == "attempts" else [one for cell in found for one in cell["attempts"]]
        assert {json.dumps(one["machine"]) for one in attempts} == {
            json.dumps({"cpus": 2, "cpu_model": "Example 9", "memory_gib": 24.0})
        }
    unknown = run(cells, 1)
    assert {one["machine"] for one in get(client, "attempts", run=unknown)["items"]} == {None}


def test_a_refused_run_is_compared_with_a_measured_one(client, repository, run, cells):
    name = f"manual__{uuid.uuid4().hex}"
    repository.refuse_run(
        study=bulk_study(),
        dag_id=STUDY,
        airflow_run_id=name,
        requested={"rows": 7},
        reason="The disk is full.",
    )
    measured = run(cells[:1], 1)
    for before, after in ((name, measured), (measured, name), (name, name)):
        found = get(client, "compare", before=before, after=after)
        assert found["verdicts"] == []
        reasons = {one["reason"] for side in ("before", "after") for one in found[side]} - {None}
        assert reasons == {"The disk is full."}


def seconds_of(client, name):
    """Return the seconds of a run."""
    found = get(client, "run", run=name)
    begun, ended = (datetime.fromisoformat(found[key]) for key in ("started_at", "finished_at"))
    return (ended - begun).total_seconds() - found["rested_s"]


def backdated(database, name):
    """Move all times of the run back by an hour."""
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.run SET started_at = started_at - interval '1 hour', finished_at = finished_at - interval '1 hour'"
            " WHERE airflow_run_id = %s",
            (name,),
        )
        connection.execute(
            "UPDATE storebench.attempt SET recorded_at = recorded_at - interval '1 hour' WHERE run_id = %s",
            (run_id_of(STUDY, name),),
        )


def read_again(repository, run_id, cell):
    """Record a second try of the read of a cell, which begins now."""
    repository.add_attempt(
        AttemptKey(run_id, cell.key, 1, "read", 2),
        timed(1.0),
        PodRecord(started_at=datetime.now(UTC)),
        phases={},
        metric=RANKED_BY["read"],
        target=None,
        dataset=None,
    )


@pytest.mark.parametrize("whole", [True, False], ids=["planned again", "one task done again"])
def test_a_run_that_was_cleared_took_as_long_as_its_work(client, database, repository, run, cells, whole):
    name = run(cells[:1], 1)
    run_id = run_id_of(STUDY, name)
    backdated(database, name)
    assert seconds_of(client, name) < 60
    if whole:
        repository.reopen_run(run_id)
    read_again(repository, run_id, cells[0])
    repository.finish_run(run_id)
    found = get(client, "run", run=name)
    assert 3500 < found["rested_s"] < 3700
    assert seconds_of(client, name) < 60
    repository.finish_run(run_id)  # its last step alone was cleared, too
    assert get(client, "run", run=name) == found


def test_an_attempt_that_was_stopped_at_the_end_of_its_run_does_not_count_the_rest_as_work(
    client, database, repository, run, cells
):
    """The killed attempt is recorded after the end of the run, but it began before."""
    name = run(cells[:1], 1)
    run_id = run_id_of(STUDY, name)
    backdated(database, name)
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.attempt SET started_at = recorded_at WHERE run_id = %s", (run_id,)
        )
        connection.execute(
            "UPDATE storebench.attempt SET recorded_at = recorded_at + interval '30 seconds'"
            " WHERE run_id = %s AND operation = 'write'",
            (run_id,),
        )
    read_again(repository, run_id, cells[0])
    repository.finish_run(run_id)
    assert 3500 < get(client, "run", run=name)["rested_s"] < 3700
    assert seconds_of(client, name) < 60


def test_a_run_whose_tasks_were_cleared_is_queued_or_running_again_and_rests_meanwhile(client, run, cells):
    name = run(cells[:1], 1)
    before = get(client, "run", run=name)
    ended_at = datetime.fromisoformat(before["finished_at"])
    minute = timedelta(minutes=1)

    def asked(state, queued_at, started_at=None):
        going = Going(STUDY, name, state, queued_at, started_at, {})
        states = RunStates(lambda *_: state, lambda *_: None, lambda: None, lambda _: [going])
        app.dependency_overrides[run_states] = lambda: states
        found = get(client, "run", run=name)
        assert (
            found == next(one for one in get(client, "runs")["items"] if one["id"] == found["id"])
            or state == "queued"
        )
        return found

    # the last step has recorded the end, and Airflow has not noticed yet
    assert asked("running", ended_at - minute, ended_at - minute) == before
    queued = asked("queued", ended_at + minute)
    assert (queued["state"], queued["finished_at"], queued["reason"]) == ("queued", None, None)
    running = asked("running", ended_at + minute, ended_at + 2 * minute)
    assert (running["state"], running["finished_at"], running["rested_s"]) == ("running", None, 120)


def test_a_run_that_airflow_has_and_that_is_not_planned_yet_is_queued_with_its_parameters(client):
    conf = {"stores": ["mongodb", "null"], "rows": 1000, "pod_cpu": "2"}
    going = Going(STUDY, "manual__soon", "running", BEGUN, None, conf)
    states = RunStates(
        lambda *_: None, lambda *_: None, lambda: None, lambda _: [], {"manual__soon": going}.get
    )
    get(client, "run", run="manual__soon", answers=404)
    app.dependency_overrides[run_states] = lambda: states
    found = get(client, "run", run="manual__soon")
    assert (found["id"], found["state"], found["params"]) == (
        run_id_of(STUDY, "manual__soon"),
        "queued",
        conf,
    )
    assert (found["stores"], found["rows"]) == (conf["stores"], 1000)
    get(client, "run", run="manual__other", answers=404)


def test_what_marks_an_attempt_is_told(client, repository, run, cells):
    """A disturbed attempt is counted as disturbed. Clients are ranked by memory before engines, each group separately."""
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
            timed(1.0, figures_cover=cover, memory_working_set_peak_bytes=memory_bytes, **marks),
            PodRecord(),
            phases={},
            metric=RANKED_BY[operation],
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


def test_histograms_are_merged_and_a_series_is_of_the_typical_repeat(client, repository, run, cells):
    name = run(cells, 3)
    assert get(client, "artifacts", run=name)["items"] == []
    for repeat, total_s in ((1, 1.0), (2, 9.0), (3, 30.0)):
        result = timed(
            1.0,
            total_s=total_s,
            histograms={"latency_s": {"values": [0.001 * repeat, 0.5], "counts": [99, 1]}},
            series={"rate_per_s": {"at_s": [0.0, 1.0], "values": [repeat, repeat]}},
        )
        repository.add_attempt(
            AttemptKey(run_id_of(STUDY, name), cells[0].key, repeat, "read", 2),
            result,
            PodRecord(),
            phases={},
            metric=RANKED_BY["read"],
            target=None,
            dataset=None,
        )
    (found,) = get(client, "artifacts", run=name)["items"]
    assert (found["cell_key"], found["operation"], found["n"]) == (cells[0].key, "read", 3)
    curve = dict(found["percentiles"]["latency_s"])
    assert (curve[0], curve[50], curve[87.5], curve[100]) == (0.001, 0.002, 0.003, 0.5)
    assert found["series"] == {"rate_per_s": [[0.0, 2.0], [1.0, 2.0]]}


def test_a_cells_history_tells_other_parameters_apart(client, run, cells):
    larger = {**PARAMS, "pod_cpu": "2"}
    for params in (PARAMS, larger):
        run(cells[:1], 1, params=params)
    rows = get(client, "attempts", cell=cells[0].key, operation="write", descending=False)["items"]
    assert [row["parameters"]["pod_cpu"] for row in rows] == ["500m", "2"]
    assert len({row["parameters_hash"] for row in rows}) == 2
    assert len({row["environment_hash"] for row in rows}) == 1


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
    name = run(cells, 3, lambda cell, turn: float(cell.value("batch")) + turn.repeat)
    rows = get(client, "attempts", run=name, sort="value", descending=False, operation="read")["items"]
    assert [row["value"] for row in rows] == [11, 12, 13, 21, 22, 23]
    assert {row["operation"] for row in rows} == {"read"}
    assert [row["metrics"]["rows_per_s"] for row in rows[:2]] == [pytest.approx(ROWS / s) for s in (11, 12)]
    by_batch = get(client, "attempts", run=name, sort="axis:batch", operation="read")["items"]
    assert [row["axes"]["batch"] for row in by_batch] == ["20"] * 3 + ["10"] * 3
    by_rate = get(client, "attempts", run=name, sort="metric:rows_per_s", operation="read")["items"]
    assert [row["value"] for row in by_rate] == [11, 12, 13, 21, 22, 23]
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
        ({"axis": ["batch=20"]}, 2),
        ({"axis": ["batch=20"], "rows": ROWS}, 2),
        ({"axis": ["batch=20"], "rows": ROWS + 1}, 0),
        ({"axis": ["batch=2"]}, 0),
        ({"axis": ["batch=10", "batch=20"]}, 0),
    ],
)
def test_filters_match_parts_of_names(client, run, cells, query, found):
    assert len(get(client, "attempts", run=run(cells, 1), **query)["items"]) == found


def test_of_what_was_tried_again_the_newest_try_counts(client, repository, run, cells):
    """The table shows both tries. The superseded try is marked, and no count includes it."""
    name = run(cells[:1], 1)
    repository.add_attempt(
        AttemptKey(run_id_of(STUDY, name), cells[0].key, 1, "read", 2),
        timed(5.0),
        PodRecord(),
        phases={},
        metric=RANKED_BY["read"],
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
        timed(1.0, total_s=5400.0, cpu_s=7200.0, memory_working_set_peak_bytes=2**30, figures_cover="client"),
        PodRecord(),
        phases={"operation": 3600.0, "verify": 1800.0},
        metric=RANKED_BY["write"],
        target=None,
        dataset=bulk_study().dataset_of(cells[0]),
    )
    found = get(client, "cells", run=name)["items"]
    queries = Queries(database)
    said = {
        (price.cell_key, price.operation): price
        for price in prices(queries.attempts_of_run(queries.run_named(name)["id"]), 0.5, 0.25)
    }
    assert len(found) == len(said) == 4
    for one in found:
        price = said[one["cell_key"], one["operation"]]
        hours = {name: getattr(price, name) for name in ("n", "cpu_hours", "memory_gib_hours")}
        assert one["used"] == (hours if price.n else None)
    (only,) = [one for one in found if one["used"]]
    assert (only["cell_key"], only["operation"]) == (cells[0].key, "write")
    # 2 core hours and 1 GiB hour, of a dataset of one byte
    assert only["used"] == {"n": 1, "cpu_hours": pytest.approx(2e9), "memory_gib_hours": pytest.approx(1e9)}
    assert said[cells[0].key, "write"].cost == pytest.approx((2 * 0.5 + 1 * 0.25) * 1e9)


def test_text_never_becomes_sql(client, run, cells):
    run(cells, 1)
    bad = "x'; DROP TABLE storebench.attempt; --"
    assert get(client, "attempts", store=bad)["items"] == []
    assert get(client, "cell-keys", containing=bad) == []
    get(client, "run", run=bad, answers=404)
    for sort in (bad, f"axis:{bad}", f"metric:{bad}"):
        get(client, "attempts", sort=sort, answers=422)


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": 501},
        {"offset": -1},
        {"limit": "many"},
        {"status": "good"},
        {"store": "x" * 501},
        {"axis": ["batch"]},
    ],
)
def test_a_bad_question_is_refused(client, query):
    get(client, "attempts", answers=422, **query)


def test_two_runs_are_compared(client, run, cells):
    before = run(cells, 8)
    after = run(cells, 8, lambda cell, turn: 2 + turn.repeat / 100, {**ENVIRONMENT, "kernel": "6.2"})
    found = get(client, "compare", before=before, after=after)
    origin = found["verdicts"][0]["origin_after"]
    assert (origin["servers"], len(origin["code_versions"]), len(origin["dates"])) == (["FerretDB"], 1, 1)
    assert {(verdict["verdict"], verdict["reason"]) for verdict in found["verdicts"]} == {("worse", None)}
    rates = get(client, "compare", before=before, after=after, metric="rows_per_s")["verdicts"]
    assert {(verdict["verdict"], verdict["unit"]) for verdict in rates} == {("worse", "rows/s")}
    get(client, "compare", before=before, after=after, metric="rows", answers=404)
    assert found["caution"].startswith("One run on each side")
    assert found["differences"] == ["mongodb: kernel: 6.1 -> 6.2"]
    assert [one["airflow_run_id"] for one in found["before"]] == [before]


def test_the_command_compares_as_the_api_does(database, monkeypatch, client, run, cells):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)

    def printed(*sides):
        result = CliRunner().invoke(main, ["compare", *sides, "--format", "json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    before, after = run(cells, 8), run(cells[:1], 8, lambda cell, turn: 2 + turn.repeat / 100)
    found = printed(before, after)
    assert found == get(client, "compare", before=before, after=after)
    assert {one["cell_key_after"] for one in found["verdicts"]} == {cells[0].key}
    assert {(one["cell_key"], one["cell_key_after"]) for one in found["no_verdict"]} == {(cells[1].key, None)}
    of_cells = printed(cells[0].key, cells[1].key)
    keys = {(one["cell_key"], one["cell_key_after"]) for one in of_cells["verdicts"]}
    assert keys == {(cells[0].key, cells[1].key)}
    assert [one["airflow_run_id"] for one in of_cells["after"]] == [before]


def test_what_cannot_be_told_says_why(client, run, cells):
    found = get(client, "compare", before=run(cells, 1), after=run(cells, 1))
    assert {verdict["verdict"] for verdict in found["verdicts"]} == {"cannot tell"}
    assert {verdict["reason"] for verdict in found["verdicts"]} == {
        "too few repeats (A has 1, B 1; 5 at least): the noise is not known"
    }


def test_a_studys_grid_says_what_is_missing_with_these_parameters(client, database, run, cells):
    run(cells[:1], 2)
    dataset = {"rows": cells[0].rows, "seed": cells[0].seed}
    dates = {f"mongodb/reference/batch={size}": datetime(2001, 1, size, tzinfo=UTC) for size in (10, 20)}
    dag = GridDag(bulk_study(), dates, False, Reading(database, [STUDY]))
    app.dependency_overrides[grid_dag] = lambda: dag

    def states(**params):
        asked = {**dataset, "repeats": 2, **params}
        found = get(client, "grid", dag=STUDY, params=json.dumps(asked))
        assert found["conf"].items() >= asked.items()
        return [(cell["state"], cell["operations"]) for cell in found["cells"]]

    assert states() == [("verified 2 times", 0), ("missing", 4)]
    assert states(repeats=3) == [("verified 2 times", 2), ("missing", 6)]
    assert states(pod_memory="12Gi") == [("missing", 4), ("missing", 4)]
    assert [one["name"] for one in get(client, "parameters", dag=STUDY)][:3] == ["rows", "seed", "repeats"]


def test_the_page_opens_the_run_that_latest_names(client, database, repository, run, cells):
    name = run(cells, 1)
    values = {
        "study": bulk_study(),
        "dag_id": STUDY,
        "params": {},
        "turns": [],
        "order_seed": 1,
        "skipped": {},
    }
    repository.start_run(airflow_run_id=f"cell__{name}", **values)
    found = get(client, "runs", dag=STUDY, limit=1)
    assert found["items"][0]["airflow_run_id"] == f"cell__{name}", "the newest is of a single cell"
    assert found["latest"] == run_id_of(STUDY, name) == get(client, "run", run="latest")["id"]
    assert get(client, "runs", dag="another")["latest"] is None


def test_of_the_runs_of_a_cell_the_newest_counts_as_refused(client, database, repository):
    read, dag_id = Reading(database, [STUDY]), f"s{uuid.uuid4().hex}"

    def refuse(name, reason, **params):
        repository.refuse_run(
            study=bulk_study(),
            dag_id=dag_id,
            airflow_run_id=name,
            requested={"rows": 1, **params},
            reason=reason,
        )

    def refused():
        return sorted(row["reason"] for row in read.refused_of_a_cell(dag_id))

    refuse("cell__null_reference_batch_10__2026-11-24T10:00:00.000Z", "first")
    refuse("cell__null_reference_batch_10__2026-11-24T11:00:00.000Z", "second")
    refuse("cell__null_reference_batch_10__2026-11-24T12:00:00.000Z", "of other rows", rows=2)
    refuse("backfill__null_reference_batch-20__2026-11-24T10:00:00+00:00", "of another cell")
    refuse("manual__2026-11-24T10:00:00+00:00", "of many cells")
    assert refused() == ["of another cell", "of other rows", "second"]
    repository.start_run(
        study=bulk_study(),
        dag_id=dag_id,
        airflow_run_id="cell__null_reference_batch_10__2026-11-24T13:00:00.000Z",
        params={"rows": 1},
        turns=[],
        order_seed=1,
        skipped={},
    )
    assert refused() == ["of another cell", "of other rows"]


def test_nobody_sees_a_run_whose_dag_they_may_not_read(stranger, run, cells):
    name = run(cells, 1)
    assert get(stranger, "runs")["items"] == []
    assert get(stranger, "attempts")["items"] == []
    assert get(stranger, "cell-keys") == []
    for path in ("run", "turns", "cells", "phases"):
        for asked in (name, run_id_of(STUDY, name), "latest"):
            get(stranger, path, run=asked, answers=404)
    get(stranger, "compare", before=name, after=name, answers=404)


def test_a_cells_history_has_its_change_its_levels_and_its_baselines(client, repository, run, cells):
    cell = cells[0]
    names = [
        run([cell], 1, seconds=lambda cell, turn, n=n: (1.5 if n >= 9 else 1.0) + (n * 5 % 7) / 500)
        for n in range(18)
    ]
    ids = [run_id_of(STUDY, name) for name in names]
    repository.set_baseline(names[2], ids[2])
    found = get(client, "history", cell=cell.key, operation="read")
    (series,) = found["series"]
    (change,) = series["changes"]
    assert (found["metric"], found["unit"], series["runs"]) == (RANKED_BY["read"], "s", 18)
    assert (change["before"]["last"]["run_id"], change["after"]["first"]["run_id"]) == (ids[8], ids[9])
    assert (change["verdict"], round(change["ratio"], 1)) == ("worse", 1.5)
    assert [level["runs"] for level in series["levels"]] == [9, 9]
    assert series["baselines"][names[2]]["run_id"] == ids[2]
    by_another = get(client, "history", cell=cell.key, operation="read", metric="work_total_s")
    assert by_another["metric"] == "work_total_s" and by_another["series"][0]["changes"] == []


def test_a_history_is_of_the_runs_that_one_may_see(client, database, run, cells):
    run(cells, 1)
    asked = {"cell": cells[0].key, "operation": "write"}
    assert len(get(client, "history", **asked)["series"]) == 1
    app.dependency_overrides[reading] = lambda: Reading(database, [])
    assert "Unknown study" in get(client, "history", answers=404, **asked)["detail"]
    assert "No cell" in get(client, "history", answers=404, **{**asked, "cell": "nonesuch"})["detail"]


def test_a_database_that_is_away_is_said_to_be(client):
    app.dependency_overrides[reading] = lambda: Reading("postgresql://x:secret@127.0.0.1:1/none", [STUDY])
    answer = get(client, "runs", answers=503)
    assert answer == {"detail": "The results database does not answer"}


def test_the_readers_role_can_only_read(database, run, cells):
    run(cells, 1)
    server, _, _ = required("AIRFLOW_CONN_STOREBENCH_READER").rpartition("/")
    reader = f"{server}/{database.rpartition('/')[2]}"
    grant(database, conninfo_to_dict(reader)["user"])
    assert Queries(reader).runs(1)
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
    assert {"/api/runs", "/api/pods"} <= set(described)
    for path in described:
        assert TestClient(app).get(path).status_code == 401, path
    for path in ("/static/page.js", "/openapi.json", "/metrics"):
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
        metric=RANKED_BY["write"],
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
    assert {cell["seed"] for cell in content["cells"]} == {cells[0].seed}
    assert content["study"]["name"] == STUDY
    tried = [attempt for cell in content["cells"] for attempt in cell["attempts"]] + content["warm_ups"]
    places = {(one["cell_key"], one["repeat"], one["operation"]) for one in tried}
    squares = {
        (turn["cell_key"], turn["repeat"], name) for turn in content["turns"] for name in turn["operations"]
    }
    assert places == squares and len(tried) == len(squares) == 12
    (environment,) = content["environments"]
    assert (environment["kernel"], environment["packages.pymongo"]) == ("6.1", "4")
    assert [ranking["operation"] for ranking in content["overview"]] == ["write", "read"]
    for ranking in content["overview"]:
        assert ranking["studies"] == [STUDY]
        assert {cell["runs"] for cell in ranking["ranked"]} == {1}


def test_a_report_of_an_unknown_run_is_refused(database, tmp_path):
    with pytest.raises(SpecError, match="There is no run 'nothing'"):
        write_report(database, "nothing", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_history_is_found_by_words_of_its_cells_key(client, run, cells):
    run(cells, 1)
    seed, key = cells[0].seed, cells[0].key
    words = f"MONGO batch=10/ {seed}"
    assert get(client, "cell-keys", containing=words) == [key]
    found = get(client, "history", cell=words, operation="write")
    assert found == get(client, "history", cell=key, operation="write")
    assert (found["cell_key"], found["operation"], len(found["series"])) == (key, "write", 1)
    several = get(client, "history", cell=f"mongodb seed={seed}", operation="write", answers=404)["detail"]
    assert several.startswith("Several cells have a key with") and all(cell.key in several for cell in cells)
    none = get(client, "history", cell="nonesuch", operation="write", answers=404)["detail"]
    assert none == "No cell of a run has a key that contains 'nonesuch'"


def test_the_metrics_that_an_answer_offers_are_answered(client, run, cells):
    name = run(cells, 5)
    compared = get(client, "compare", before=name, after=name)
    assert [metric["name"] for metric in compared["metrics"]][0] == RANKED_BY["write"]
    for metric in compared["metrics"]:
        again = get(client, "compare", before=name, after=name, metric=metric["name"])
        assert again["metrics"] == compared["metrics"], "also where only some operations report the metric"
        assert {verdict["metric"] for verdict in again["verdicts"]} <= {metric["name"]}
    offered = {metric["name"] for metric in compared["metrics"]}
    study = get(client, "study", name=STUDY)
    refused = [metric["name"] for metric in study["metrics"] if metric["name"] not in offered]
    for metric in refused:
        get(client, "compare", before=name, after=name, metric=metric, answers=404)
    found = get(client, "history", cell=cells[0].key, operation="write")
    reported = next(one["metrics"] for one in study["operations"] if one["name"] == "write")
    shown = [  # with a fault only
        name for table in study["tables"] if "write" in table["operations"] for name in table["metrics"]
    ]
    assert {metric["name"] for metric in found["metrics"]} - {one["name"] for one in study["common"]} <= {
        *(*reported, *shown)
    }
    assert found["metrics"][0]["name"] == found["metric"]
