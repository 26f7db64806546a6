"""A bundle from before any study, as it comes out of `storebench import`: rows of today's tables."""

import copy
import json
import zipfile
from pathlib import Path

import pytest

from storebench.airflow.params import defaults_of, grid_of
from storebench.results.bundle import TABLES
from storebench.results.bundle_upgrade import upgraded
from tests.bulk import bulk_study

OLD_BUNDLE = Path(__file__).parents[2] / "integration" / "before_any_study" / "bulk_study.zip"

KEY = "bulk_write_read/mongodb/reference/batch=1000/rows=20000/seed=42"
ATTEMPT = {
    "cell_key": KEY,
    "run_id": "bulk_write_read/r",
    "total_s": 9.0,
    "operation_s": None,
    "source_s": None,
    "barrier_s": None,
    "status": "failed",
}
OLD = {
    "environment": [{"hash": "e", "details": {}}],
    "cell": [{"key": KEY, "study": "bulk_write_read", "axes": {"batch": "1000"}, "rows": 20000, "seed": 42}],
    "run": [
        {
            "id": "bulk_write_read/r",
            "study": "bulk_write_read",
            "params": {"batch_sizes": ["1000"], "rows": 20000},
            "stopped": "it was marked as failed",
        }
    ],
    "run_cell": [{"run_id": "bulk_write_read/r", "cell_key": KEY, "repeat": 1}],
    "attempt": [
        {
            **ATTEMPT,
            "id": "w",
            "operation": "write",
            "status": "verified",
            "operation_s": 4.0,
            "source_s": 1.0,
            "barrier_s": 0.5,
        },
        {**ATTEMPT, "id": "r", "operation": "read", "operation_s": 2.0},
        {**ATTEMPT, "id": "n", "operation": "read", "status": "not_run"},
    ],
    "phase": [{"attempt_id": "w", "position": 1, "name": "connect", "seconds": 0.5}],
}


@pytest.fixture
def found():
    return upgraded(copy.deepcopy(OLD))


def test_a_figure_is_a_metric_by_its_name_and_what_was_not_measured_is_none(found):
    of = {row["id"]: (row["value"], row["metrics"]) for row in found["attempt"]}
    assert of == {
        "w": (
            4.0,
            {"only_s": 4.0, "source_s": 1.0, "barrier_s": 0.5, "rows_per_s": 5000.0, "write_s": 4.5},
        ),
        "r": (2.0, {"only_s": 2.0}),
        "n": (None, {}),
    }, "a failed attempt has no rate"
    for attempt in found["attempt"]:
        assert attempt["metric"] == "only_s"
        assert not {"operation_s", "source_s", "barrier_s"} & attempt.keys()


def test_a_write_of_a_bundle_with_its_study_has_the_sum_that_ranks_writes_now_and_keeps_what_ranked_it():
    metrics = {"only_s": 4.0, "barrier_s": 0.5, "rows_per_s": 5000.0}
    told = {"cell_key": KEY, "status": "verified", "metric": "only_s", "value": 4.0, "metrics": metrics}
    write, read = ({**told, "operation": name} for name in ("write", "read"))
    others = [read, {**write, "status": "failed"}, {**write, "metrics": {"only_s": 4.0}}]
    bundle = {**OLD, "study": [{"name": "bulk_write_read"}], "attempt": [write, *others]}
    found, *rest = upgraded(bundle)["attempt"]
    assert found == {**write, "metrics": {**metrics, "write_s": 4.5}} and rest == others
    (elsewhere,) = upgraded({**bundle, "cell": [{**OLD["cell"][0], "study": "s"}], "attempt": [write]})[
        "attempt"
    ]
    assert elsewhere == write
    assert upgraded({**bundle, "attempt": [found]})["attempt"] == [found], "of the present method"


def test_a_chart_of_the_whole_total_is_one_without_verification():
    study = {
        "name": "s",
        "details": {"charts": [{"metric": "total_s", "colour": "store"}, {"metric": "a_s"}]},
    }
    (found,) = upgraded({"study": [study], "cell": []})["study"]
    assert found["details"]["charts"] == [{"metric": "work_total_s", "colour": "store"}, {"metric": "a_s"}]
    assert found["name"] == "s"


def test_a_run_has_its_datasets_its_reason_and_todays_name_of_the_axis(found):
    (run,) = found["run"]
    assert run == {
        "id": "bulk_write_read/r",
        "study": "bulk_write_read",
        "params": {"batch": ["1000"], "rows": 20000},
        "reason": "it was marked as failed",
        "datasets": ["v1/rows=20000/seed=42"],
    }


def test_only_tables_of_today_are_left_and_what_was_there_stays(found):
    assert found.keys() <= TABLES.keys()
    assert all(found[name] == OLD[name] for name in ("phase", "run_cell", "cell", "environment"))


def test_a_run_that_was_refused_has_no_cells_and_no_attempts():
    found = upgraded({"run": [{"id": "s/r", "study": "s", "params": {}}], "cell": []})
    assert found["run"][0]["datasets"] is None and found["attempt"] == []


def test_executors_are_pods_by_their_role():
    executor = {"attempt_id": "w", "executor": "1", "pods": 1, "cpu_s": 2.0}
    tables = {"study": [], "executor": [executor]}
    assert upgraded(tables) == {
        "study": [],
        "usage": [{"attempt_id": "w", "role": "executor", "name": "1", "pods": 1, "cpu_s": 2.0}],
    }


def test_a_bundle_of_today_stays_as_it_is():
    attempt = {"id": "w", "cell_key": KEY, "operation": "read", "status": "verified"}
    attempt["metrics"] = {"batch_sizes": 1}
    tables = {"study": [], "attempt": [attempt], "cell": OLD["cell"], "run": []}
    assert upgraded(tables) == tables


def test_a_run_of_an_old_bundle_can_be_started_again_and_has_the_same_cells():
    with zipfile.ZipFile(OLD_BUNDLE) as archive:
        tables = {name: json.loads(archive.read(f"{name}.json")) for name in ("cell", "run", "run_cell")}
    assert "batch_sizes" in tables["run"][0]["params"]
    (run,) = upgraded(tables)["run"]
    study = bulk_study()
    values = defaults_of(study, {**run["params"], "order_seed": run["order_seed"]})
    assert values["batch"] == ["10000", "100000", "all"] and values["driver_memory"] == "2g"
    cells = {cell.key for cell in grid_of(study, values).cells}
    assert cells == {row["cell_key"] for row in tables["run_cell"]}
