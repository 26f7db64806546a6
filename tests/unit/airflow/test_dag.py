from pathlib import Path
from types import SimpleNamespace

import pytest

DAGS = Path(__file__).parents[3] / "dags"


@pytest.fixture(scope="module")
def dag(tmp_path_factory):
    # Airflow reads its settings when it is first imported: they are set in tests/conftest.py
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(dag_folder=str(DAGS), bundle_name="dags-folder")
    assert bag.import_errors == {}
    return bag.dags["bulk_write_read"]


def test_the_steps_of_a_run_are_in_order(dag):
    assert set(dag.task_ids) == {"plan", "dataset", "cell.write", "cell.read", "cell.drop", "aggregate"}
    edges = {(task.task_id, down) for task in dag.tasks for down in task.downstream_task_ids}
    assert ("plan", "dataset") in edges
    for step in ("write", "read", "drop"):
        assert {("dataset", f"cell.{step}"), (f"cell.{step}", "aggregate")} <= edges


def test_pods_share_a_pool_finish_a_cell_before_the_next_and_what_is_timed_is_never_retried(dag):
    pods = [dag.get_task(name) for name in ("dataset", "cell.write", "cell.read", "cell.drop")]
    assert {task.pool for task in pods} == {"benchmark"}
    assert {task.retries for task in pods[:3]} == {0}
    assert pods[3].retries > 0, "what was written is not left in a store that is away for a while"
    assert {type(task.weight_rule).__name__ for task in pods[1:]} == {"CellByCell"}


def test_each_pool_of_nodes_has_its_own_tasks_airflow_pool_and_connection(monkeypatch):
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("STOREBENCH_NODE_POOLS", "v8")
    bag = DagBag(dag_folder=str(DAGS), bundle_name="dags-folder")
    assert bag.import_errors == {}
    dag = bag.dags["bulk_write_read"]
    default, other = dag.get_task("cell.write"), dag.get_task("cell_v8.write")
    assert (default.pool, other.pool) == ("benchmark", "benchmark_v8")
    assert "dataset" in other.upstream_task_ids and "turns_v8" in dag.task_ids
    assert dag.get_task("aggregate").upstream_task_ids >= {"cell.drop", "cell_v8.drop"}


@pytest.fixture
def called(dag, monkeypatch):
    """Call the function of a step; returns what it called of the modules that it wires, in order."""
    from storebench.airflow import dag as module

    calls = []

    def note(name, result=None):
        return lambda *arguments, **_: calls.append((name, *arguments[1:])) or result

    def step(name, states):
        ti = SimpleNamespace(get_task_states=lambda **_: {"r": states})
        context = {"ti": ti, "dag": SimpleNamespace(dag_id="d"), "run_id": "r", "params": {}, "dag_run": None}
        monkeypatch.setattr(module, "get_current_context", lambda: context)
        dag.get_task(name).python_callable()
        return calls

    repository = SimpleNamespace(
        recorded_turns=lambda run_id: [],
        finish_run=lambda run_id: calls.append(("finish", run_id)) or [],
        cells_of_run=lambda run_id: [],
    )
    monkeypatch.setattr(module.connections, "repository", lambda *_: repository)
    monkeypatch.setattr(module, "fill_gaps", note("fill gaps", 0))
    monkeypatch.setattr(module, "refresh", lambda *_: None)
    monkeypatch.setattr(module.secrets, "release", lambda run_id: calls.append(("release", run_id)))
    monkeypatch.setattr(module, "close_stopped", note("close stopped"))
    monkeypatch.setattr(module, "plan_of", lambda *_: calls.append(("plan",)) or [])
    return step


def test_the_last_step_fills_gaps_with_the_reason_then_removes_the_runs_secrets(called):
    assert called("aggregate", {"plan": "success", "dataset": "success"}) == [
        ("fill gaps", "d/r", set(), None),
        ("finish", "d/r"),
        ("release", "d/r"),
    ]


def test_the_plan_closes_what_was_stopped_before_anything_else(called):
    assert called("plan", {}) == [("close stopped", "d/r"), ("plan",)]


@pytest.mark.parametrize(
    "bad",
    [
        {"stores": ["oracle"]},
        {"stores": []},
        {"stores": ["mongodb@"]},
        {"stores": ["mongodb@V8"]},
        {"batch_sizes": ["0"]},
        {"batch_sizes": [1000]},
        {"executors": ["-1"]},
        {"rows": 0},
        {"rows": "many"},
        {"rows": 10**10},
        {"seed": -1},
        {"repeats": 0},
        {"pod_memory": "lots"},
        {"keep_data": "maybe"},
    ],
)
def test_the_form_refuses_bad_values(dag, bad):
    from airflow.exceptions import ParamValidationError

    (name, value), *_ = bad.items()
    with pytest.raises(ParamValidationError):
        dag.params.get_param(name).resolve(value)


def test_every_parameter_has_a_title_and_a_help_text(dag):
    for name in dag.params:
        schema = dag.params.get_param(name).schema
        assert schema["title"] and schema["description_md"], name
