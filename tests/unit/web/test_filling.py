import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from airflow.api_fastapi.core_api.security import get_user
from fastapi import HTTPException
from fastapi.testclient import TestClient

from storebench.airflow.params import defaults_of
from storebench.airflow.priority import CellByCell
from storebench.airflow.timetable import GridTimetable
from storebench.results.expected import BETWEEN_S, ROWS_PER_S
from storebench.studies import CHECKOUT_DAGS, find
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
    """The study's DAG; of its two cells as many repeats are verified as `done` says."""
    done = {}

    def verified(queries, cells, params):
        return {cell: done.get("/".join(cell.key.split("/")[1:-2]), 0) for cell in cells}

    monkeypatch.setattr("storebench.results.missing.verified_repeats", verified)
    read = SimpleNamespace(
        attempts_of_cells=lambda keys: [], durations=lambda *_: [], seconds_between=lambda _: None
    )
    return GridDag(study.name, DATES, defaults_of(study, {}), True, read), done


def test_the_parameters_are_the_forms_without_the_places_in_the_grid(dag, study):
    found = {one.name: one for one in filling.parameters_of(dag[0])}
    assert list(found)[:3] == ["rows", "seed", "repeats"]
    assert (found["rows"].default, found["rows"].title) == (study.default_rows, "Rows")
    assert {"pod_memory", "executor_memory", "keep_data"} <= found.keys()
    places = {"stores", "clients", *(axis.param for axis in study.axes)}
    assert not (places | {"full_grid", "order_seed", "skip_done"}) & found.keys()


def test_a_store_without_executors_is_not_asked_for_them(dag):
    known, _ = dag
    defaults = {name: value for name, value in known.defaults.items() if not name.startswith("executor_")}
    plain = GridDag(known.dag_id, DATES, defaults, True, known.read)
    assert not [one for one in filling.parameters_of(plain) if one.name.startswith("executor_")]
    assert filling.grid_of(plain, "{}").cells


def test_each_cell_has_what_is_missing_of_it_and_how_long_that_takes(dag):
    known, done = dag
    done[ONE] = 2
    found = filling.grid_of(known, json.dumps({"rows": "1,000", "repeats": 3, "pod_memory": "2Gi"}))
    assert found.may_start
    assert [(cell.key, cell.date) for cell in found.cells] == list(DATES.items())
    assert [(cell.state, cell.operations) for cell in found.cells] == [
        ("verified 2 times", 2),
        ("missing", 6),
    ]
    assert [cell.unknown for cell in found.cells] == [2, 6]
    assert found.cells[1].expected_s == pytest.approx(6 * (BETWEEN_S + 1000 / ROWS_PER_S))


def test_what_is_done_has_nothing_left(dag):
    known, done = dag
    done[ONE] = done[OTHER] = 1
    found = filling.grid_of(known, "{}").cells
    assert {(cell.state, cell.operations, cell.expected_s) for cell in found} == {("verified once", 0, 0.0)}


def test_what_is_sent_is_what_the_cells_were_looked_at_with(dag):
    """As values, and no more than was asked for: the rest is the DAG's."""
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
    monkeypatch.setattr(access, "get_auth_manager", lambda: manager)
    monkeypatch.setattr(access.SerializedDagModel, "get_dag", {study.name: kept}.get)
    monkeypatch.setattr(access.connections, "reader_dsn", lambda: "")
    return rights


def test_a_study_is_known_by_its_dag_in_airflow(airflow, study):
    from storebench.partition import partitions

    airflow |= {"GET"}
    found = grid_dag(study.name, None)
    assert dict(found.dates) == partitions(study)
    assert found.defaults == defaults_of(study, {}) | {
        axis.param: ", ".join(axis.default) for axis in study.axes
    }
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
