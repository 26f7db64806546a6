import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from storebench.airflow.compat.api_server import get_user
from storebench.planning import draft
from storebench.planning.params import fields_of, run_values
from storebench.results.forecast.expected import BETWEEN_S, ROWS_PER_S
from storebench.study.record import StudyRecord
from storebench.study.studies import CHECKOUT_DAGS, find, names
from storebench.web import access, starting
from storebench.web.access import GridDag, grid_dag
from storebench.web.api import app
from tests.unit.example import STUDY

NOTHING = SimpleNamespace(
    attempts_of_cells=lambda keys: [], durations=lambda *_: [], seconds_between=lambda _: None
)


def as_kept(study, may_start=True):
    """Return a study's DAG as in the API server."""
    return GridDag(
        StudyRecord.read(json.loads(json.dumps(StudyRecord.of(study).as_json()))), {}, may_start, NOTHING
    )


@pytest.fixture(autouse=True)
def somewhere(monkeypatch):
    """Set up an Airflow with these connections."""
    known = {"mongodb", "elasticsearch", "mongodb_v8"}
    monkeypatch.setattr(access.connections, "exists", known.__contains__)
    monkeypatch.setattr(access.preflight.conf, "getint", lambda *_: 1024)
    monkeypatch.delenv("STOREBENCH_EMBEDDED", raising=False)
    monkeypatch.delenv("STOREBENCH_DISK_PATH", raising=False)


def drafted(asked, study=STUDY):
    return starting.drafted(as_kept(study), asked)


@pytest.mark.parametrize("name", [*(path.stem for path in CHECKOUT_DAGS.glob("*.py"))])
def test_the_form_is_that_of_the_dag_in_its_sections_whatever_the_study(name, monkeypatch):
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(CHECKOUT_DAGS))
    if name not in names():
        pytest.skip("a module beside a study")
    study = find(name)
    found = starting.form(as_kept(study))
    fields = {one.name: one for section in found.sections for one in section.fields}
    assert list(fields) == list(fields_of(study))
    assert found.sections[0].fields[0].name == "stores"
    for one in fields.values():
        if one.kind == "list":
            assert all(run_values(study, {one.name: [value]}) for value in one.examples)
            assert not any("," in str(value) for value in one.examples)
    monkeypatch.setattr(starting, "agent_image", lambda: "own/agent:1")  # presets with faults need the agent
    for preset in found.presets:
        assert not starting.drafted(as_kept(study), preset.params).mistakes


def test_a_draft_says_who_may_start_it():
    for may_start, asked in ((True, {}), (False, {}), (False, {"rows": 0})):
        assert starting.drafted(as_kept(STUDY, may_start), asked).may_start is may_start


def test_a_form_has_no_words_that_are_about_airflows_own():
    found = starting.form(as_kept(STUDY))
    (stores,) = [one for one in found.sections[0].fields if one.name == "stores"]
    assert "mongodb@one" in stores.examples, "servers that a run provisions"
    assert "Advanced Options" not in stores.text and "Backfill" not in stores.text


@pytest.mark.parametrize("place", ["kubernetes", "compose"])
def test_a_preset_has_the_sizes_of_where_it_is(monkeypatch, place):
    preset = replace(STUDY, presets={})
    assert starting.form(as_kept(preset)).presets == []
    study = find("bulk_write_read")
    small = [name for name, one in study.presets.items() if one.embedded]
    asked = {one.name: one.params for one in starting.form(as_kept(study)).presets}
    assert all("embedded" not in one.description for one in starting.form(as_kept(study)).presets)
    monkeypatch.setenv("STOREBENCH_EMBEDDED", place)
    embedded = {one.name: one.params for one in starting.form(as_kept(study)).presets}
    told = {
        one.name: one.description
        for one in starting.form(as_kept(study)).presets
        if " instead of " in one.description
    }
    assert list(told) == small and "1g instead of 4g" in told["study"]
    assert small and [name for name in asked if asked[name] != embedded[name]] == small


def test_a_draft_has_the_cells_the_operations_and_about_how_long_they_take(monkeypatch):
    asked = {"stores": "mongodb, null", "clients": "reference", "batch": "10, all"}
    found = drafted({**asked, "rows": "1,000", "repeats": 3})
    assert found.mistakes == []
    places = [(store, batch) for store in ("mongodb", "null") for batch in ("10", "all")]
    assert [(one.label, one.repeats, one.skipped) for one in found.cells] == [
        (f"{store} reference batch={batch}", 3, None) for store, batch in places
    ]
    assert (found.operations, found.unknown) == (found.cells_total * 3 * 2, 0)
    for name in ("mongodb", "null"):
        monkeypatch.setattr(STUDY.store(name), "typical", ())
    guessed = drafted({**asked, "rows": "1,000", "repeats": 3})
    assert guessed.operations == guessed.unknown
    assert guessed.expected_s == pytest.approx(found.operations * (BETWEEN_S + 1000 / ROWS_PER_S))
    listed = {"stores": ["mongodb", "null"], "clients": ["reference"], "batch": ["10", "all"]}
    assert found.conf == {**listed, "rows": 1000, "repeats": 3}


def test_what_is_excluded_says_why(monkeypatch):
    monkeypatch.setattr(draft, "verified_repeats", lambda study, queries, cells, *_: {cells[0]: 3})
    asked = {"stores": ["null"], "clients": ["reference"], "batch": ["10", "20", "5000"], "rows": 1000}
    found = drafted({**asked, "repeats": 3, "skip_done": True})
    assert [(one.repeats, bool(one.skipped)) for one in found.cells] == [(0, True), (3, False), (3, False)]
    assert found.cells[0].skipped.startswith("already verified 3 times")
    assert [one.repeats for one in drafted({**asked, "repeats": 3}).cells] == [3, 3, 3], "not asked for"
    both = drafted({**asked, "batch": ["5000", "all"], "budget_min": 5})
    assert (both.dropped, both.cells_total, both.may_end_earlier) == (3, 1, True)
    assert "batch=5000 is the same as batch=all" in both.dropped_because


def test_every_mistake_is_named_at_once_with_its_field():
    found = drafted({"rows": "-5", "batch": "0", "stores": "mongo", "pod_mem": "2Gi"})
    assert {one.parameter: one.text.split(".")[0] for one in found.mistakes} == {
        "rows": "Rows: '-5' is not a whole number from 1 to 1,000,000,000",
        "batch": "Batch: '0' is not a number of rows from 1, or 'all'",
        "stores": "Unknown store 'mongo'",
        "pod_mem": "Unknown parameter 'pod_mem'",
    }
    assert (found.cells, found.conf) == ([], {})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"stores": ["null"], "clients": ["tuned"], "batch": ["10"]}, "No cell is left to run"),
        ({"stores": ["mongodb@nine"]}, "'mongodb@nine' means no server: there is no Airflow Connection"),
        ({"stores": ["null@nine"]}, "there is no pool of nodes 'nine'"),
        (
            {"stores": ["null"], "repeats": 100, "batch": "1,2,3,4,5,6,7,8,9,10,11"},
            "This run has 1,100 turns",
        ),
    ],
)
def test_what_is_wrong_with_several_fields_together_is_named(asked, words):
    (mistake,) = drafted({"clients": ["reference"], **asked}).mistakes
    assert mistake.parameter is None and words in mistake.text


def test_a_dataset_that_the_disk_cannot_hold_is_a_mistake(monkeypatch, tmp_path):
    monkeypatch.setenv("STOREBENCH_DISK_PATH", str(tmp_path))
    (mistake,) = drafted({"stores": ["null"], "rows": 1_000_000_000}).mistakes
    assert "needs about" in mistake.text


def test_servers_of_connections_and_of_the_run_are_known():
    assert not drafted({"stores": ["mongodb@v8", "mongodb@one"], "clients": ["reference"]}).mistakes


def test_what_is_no_object_is_a_bad_request():
    app.dependency_overrides = {get_user: lambda: None, grid_dag: lambda: as_kept(STUDY)}
    try:
        answer = TestClient(app).get("/api/draft", params={"dag": STUDY.name, "params": "["})
        good = TestClient(app).get("/api/draft", params={"dag": STUDY.name, "params": '{"rows": 0}'})
    finally:
        app.dependency_overrides = {}
    assert (answer.status_code, good.status_code) == (422, 200)
    assert good.json()["mistakes"][0]["parameter"] == "rows"


def test_sizes_that_a_topology_cannot_have_are_a_mistake():
    asked = {"stores": ["mongodb@one"], "clients": ["reference"], "server_copies": 3}
    assert not drafted({**asked, "server_copies": None}).mistakes
    (mistake,) = drafted(asked).mistakes
    assert "server_copies: the topology mongodb/one has a fixed number of copies" in mistake.text


def test_caches_that_nothing_can_empty_are_a_mistake():
    asked = {"stores": ["mongodb"], "clients": ["reference"], "cache": "cold"}
    (mistake,) = drafted(asked, find("bulk_write_read")).mistakes
    assert "in the place of mongodb ask for mongodb@one" in mistake.text


def test_a_draft_knows_how_long_a_load_lasts_and_what_contradicts_it():
    study, asked = find("point_operations"), {"stores": ["mongodb"], "clients": ["direct"], "duration_s": 600}
    brief = drafted({**asked, "duration_s": 60}, study)
    found = drafted(asked, study)
    loads = sum(operation.name != "fill" for operation in study.operations) * found.cells_total
    assert loads and found.expected_s - brief.expected_s == pytest.approx(540 * loads)
    (mistake,) = drafted({**asked, "warmup_s": 700}, study).mistakes
    assert "shorter than its warm-up" in mistake.text


def test_a_draft_of_a_study_that_was_kept_with_fewer_parameters_is_made():
    record = StudyRecord.of(find("point_operations"))
    fewer = tuple(param for param in record.params if param.name != "read_share")
    dag = GridDag(record.model_copy(update={"params": fewer}), {}, True, NOTHING)
    assert not starting.drafted(dag, {"stores": ["mongodb"]}).mistakes


def test_a_name_that_no_text_can_hold_is_a_bad_request():
    app.dependency_overrides = {get_user: lambda: None, grid_dag: lambda: as_kept(STUDY)}
    try:
        answer = TestClient(app).get("/api/draft", params={"dag": STUDY.name, "params": r'{"\ud800": 1}'})
    finally:
        app.dependency_overrides = {}
    assert answer.status_code == 422
    assert r"the character '\ud800' cannot be stored" in answer.json()["detail"]
