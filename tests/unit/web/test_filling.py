import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from fastapi import HTTPException
from fastapi.testclient import TestClient

from storebench.airflow.compat import api_server
from storebench.airflow.compat.api_server import get_user
from storebench.airflow.compat.priority import CellByCell
from storebench.airflow.compat.timetable import GridTimetable
from storebench.results.forecast.expected import BETWEEN_S, ROWS_PER_S
from storebench.study.record import StudyRecord
from storebench.study.studies import CHECKOUT_DAGS, find
from storebench.web import access, filling
from storebench.web.access import GridDag, grid_dag
from storebench.web.api import app

ONE, OTHER = "null/reference/batch=10000", "null/reference/batch=all"
DATES = {ONE: datetime(2007, 1, 1, tzinfo=UTC), OTHER: datetime(2007, 1, 3, tzinfo=UTC)}


@pytest.fixture
def study(monkeypatch):
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(CHECKOUT_DAGS))
    return find("bulk_write_read")


@pytest.fixture
def dag(study, monkeypatch):
    """Return the study's DAG. `done`: the number of verified repeats of its two cells."""
    done = {}

    def verified(study, queries, cells, params):
        return {cell: done.get("/".join(cell.key.split("/")[1:-2]), 0) for cell in cells}

    monkeypatch.setattr("storebench.results.forecast.missing.verified_repeats", verified)
    read = SimpleNamespace(
        attempts_of_cells=lambda keys: [],
        durations=lambda *_: [],
        seconds_between=lambda _: None,
        refused_of_a_cell=lambda dag_id: [],
    )
    return GridDag(
        StudyRecord.read(json.loads(json.dumps(StudyRecord.of(study).as_json()))), DATES, True, read
    ), done


def test_the_parameters_are_the_forms_without_the_places_in_the_grid(dag, study):
    found = {one.name: one for one in filling.parameters_of(dag[0])}
    assert list(found)[:3] == ["rows", "seed", "repeats"]
    assert (found["rows"].default, found["rows"].title) == (20_000, "Rows")
    assert {"pod_memory", "executor_memory", "keep_data"} <= found.keys()
    places = {"stores", "clients", *(axis.name for axis in study.axes)}
    assert not (places | {"full_grid", "order_seed", "skip_done"}) & found.keys()


def test_the_dataset_and_the_repeats_are_what_most_users_choose(dag):
    assert {one.name for one in filling.parameters_of(dag[0]) if one.main} == {"rows", "seed", "repeats"}


def test_a_study_without_parameters_of_its_own_asks_for_none(dag, study):
    known, _ = dag
    only_batch = {"axes": study.axes[:1], "operations": study.operations[:1], "charts": (), "tables": ()}
    few = replace(study, stores=("null",), default_stores=(), params={}, presets={}, claims=(), **only_batch)
    plain = GridDag(few, DATES, True, known.read)
    assert not [one for one in filling.parameters_of(plain) if one.name.startswith("executor_")]
    assert filling.grid_of(plain, "{}").cells


def test_each_cell_has_what_is_missing_of_it_and_how_long_that_takes(dag, study, monkeypatch):
    known, done = dag
    assert [cell.unknown for cell in filling.grid_of(known, "{}").cells] == [0, 0], (
        "typical times are no guess"
    )
    monkeypatch.setattr(study.store("null"), "typical", ())
    done[ONE] = 2
    found = filling.grid_of(known, json.dumps({"rows": "11,000", "repeats": 3, "pod_memory": "2Gi"}))
    assert found.may_start
    assert [(cell.key, cell.date) for cell in found.cells] == list(DATES.items())
    assert [(cell.state, cell.operations) for cell in found.cells] == [
        ("verified 2 times", 2),
        ("missing", 6),
    ]
    assert [cell.unknown for cell in found.cells] == [2, 6]
    assert found.cells[1].expected_s == pytest.approx(6 * (BETWEEN_S + 11_000 / ROWS_PER_S))


def test_a_batch_as_large_as_the_dataset_is_not_listed_beside_all_at_once(dag):
    found = filling.grid_of(dag[0], json.dumps({"rows": 10_000}))
    assert [cell.key for cell in found.cells] == [OTHER]


def test_a_cell_whose_run_was_refused_says_why(dag):
    """The run had the shown parameters, and was started by the page or by a backfill."""
    known, done = dag
    rows = [
        ("cell__null_reference_batch_10000__2026-11-24T10:00:00.000Z", {"rows": 100_000}, "of the page"),
        (
            "backfill__null_reference_batch-all__2026-11-24T10:00:00+00:00",
            {"rows": "100,000"},
            "of a backfill",
        ),
        ("cell__null_reference_batch_all__2026-11-24T11:00:00.000Z", {"rows": 5}, "of other rows"),
        ("cell__null_reference_batch_all__2026-11-24T12:00:00.000Z", {"rows": -5}, "of no rows"),
        ("backfill__2007-01-01", {"rows": 100_000}, "of no cell"),
    ]
    known.read.refused_of_a_cell = lambda dag_id: [
        {"airflow_run_id": name, "params": params, "reason": reason} for name, params, reason in rows
    ]

    def refused(params):
        return [cell.refused for cell in filling.grid_of(known, json.dumps(params)).cells]

    assert refused({"rows": 100_000}) == ["of the page", "of a backfill"]
    assert refused({"rows": 100_000, "pod_memory": "2Gi"}) == [None, None]
    done[ONE] = 1
    assert refused({"rows": 100_000}) == [None, "of a backfill"], "what is done has no need of that run"


def test_what_is_done_has_nothing_left(dag):
    known, done = dag
    done[ONE] = done[OTHER] = 1
    found = filling.grid_of(known, "{}").cells
    assert {(cell.state, cell.operations, cell.expected_s) for cell in found} == {("verified once", 0, 0.0)}


def test_what_is_sent_is_what_the_cells_were_looked_at_with(dag):
    """The request has values, and only the chosen parameters: the DAG has the others."""
    known, _ = dag
    found = filling.grid_of(known, json.dumps({"rows": "1,000", "cpu_limit": "true"}))
    assert found.conf == {"rows": 1000, "seed": 42, "repeats": 1, "cpu_limit": True, "skip_done": True}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ('{"rows": "-5"}', "Rows: '-5' is not a whole number from 1"),
        ('{"pod_mem": "2Gi"}', "Unknown parameter 'pod_mem'. Did you mean pod_memory"),
        ('{"stores": ["null"]}', "Unknown parameter 'stores'"),
        ("[]", "no JSON object"),
        ("{", "no JSON object"),
        ('{"rows": NaN}', "no JSON object: nan is no number"),
        (r'{"\ud800": 1}', r"no JSON object: the character '\ud800' cannot be stored"),
        pytest.param('{"a":' + "[" * 9_000, "no JSON object", id="deep"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_words(dag, params, words):
    app.dependency_overrides = {get_user: lambda: None, grid_dag: lambda: dag[0]}
    try:
        answer = TestClient(app).get("/api/grid", params={"dag": "bulk_write_read", "params": params})
    finally:
        app.dependency_overrides = {}
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


@pytest.fixture
def airflow(study, monkeypatch):
    """Airflow with our plugin and the study's DAG, as it keeps it, and a user with these rights."""
    from airflow import plugins_manager
    from airflow.dag_processing.dagbag import DagBag
    from airflow.serialization.serialized_objects import DagSerialization

    for name, ours in (("timetables", GridTimetable), ("priority_weight_strategy", CellByCell)):
        known = {f"{ours.__module__}.{ours.__qualname__}": ours}
        monkeypatch.setattr(plugins_manager, f"get_{name}_plugins", lambda known=known: known)
    bag = DagBag(dag_folder=str(CHECKOUT_DAGS), bundle_name="dags-folder")
    kept = DagSerialization.from_dict(DagSerialization.to_dict(bag.dags[study.name]))
    rights = set()
    manager = SimpleNamespace(
        is_authorized_dag=lambda *, method, details, user, access_entity=None: method in rights
    )
    monkeypatch.setattr(api_server, "get_auth_manager", lambda: manager)
    monkeypatch.setattr(api_server.SerializedDagModel, "get_dag", {study.name: kept}.get)
    monkeypatch.setattr(access.connections, "reader_dsn", lambda: "")
    return rights


@pytest.fixture
def no_files(monkeypatch):
    """Neither a study's file can be loaded nor a store's module."""

    def refuse(*_):
        raise AssertionError("the API server loads none")

    monkeypatch.setattr("storebench.study.studies.find", refuse)
    monkeypatch.setattr("storebench.stores.load", refuse)


def test_a_study_is_known_by_its_dag_in_airflow(airflow, study, request):
    from storebench.study.partition import partitions

    dates = partitions(study)
    request.getfixturevalue("no_files")
    airflow |= {"GET"}
    found = grid_dag(study.name, None)
    assert dict(found.dates) == dates
    assert found.study.name == study.name
    assert "executor_memory" in {one.name for one in filling.parameters_of(found)}
    assert not found.may_start
    airflow |= {"POST"}
    assert grid_dag(study.name, None).may_start


def test_nobody_sees_the_grid_of_a_dag_that_they_may_not_read(airflow, study):
    with pytest.raises(HTTPException) as refused:
        grid_dag(study.name, None)
    assert refused.value.status_code == 404
    airflow |= {"GET"}
    with pytest.raises(HTTPException, match="There is no study 'nonesuch'"):
        grid_dag("nonesuch", None)


def test_a_dag_that_airflow_keeps_for_an_earlier_version_says_so(airflow, study, monkeypatch):
    airflow |= {"GET"}
    kept = SimpleNamespace(timetable=GridTimetable.deserialize({"dates": []}))
    monkeypatch.setattr(api_server.SerializedDagModel, "get_dag", {study.name: kept}.get)
    with pytest.raises(
        HTTPException, match=r"The record of a study cannot be read: .* Another version of Storebench"
    ) as refused:
        grid_dag(study.name, None)
    assert refused.value.status_code == 404
