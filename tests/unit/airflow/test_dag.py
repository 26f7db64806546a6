from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowFailException

from storebench.airflow.compat.priority import LAST, MOST_STEPS, CellByCell
from storebench.airflow.compat.timetable import GridTimetable
from storebench.airflow.dags.study import study_dag
from storebench.errors import SpecError
from storebench.results.leftovers.stopped import COMMAND
from storebench.results.leftovers.unneeded import CLEAN_DAG
from storebench.study.model import Operation
from tests.unit.example import STUDY

DAGS = Path(__file__).parents[3] / "dags"


@pytest.fixture(scope="module")
def dags():
    # Airflow reads its settings when it is first imported: they are set in tests/conftest.py
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(dag_folder=str(DAGS), bundle_name="dags-folder")
    assert bag.import_errors == {}
    return bag.dags


@pytest.fixture
def dag(dags):
    return dags["bulk_write_read"]


def test_the_steps_of_a_run_are_in_order(dag):
    cells = {"cell.write", "cell.maintain", "cell.read", "cell.drop"}
    assert set(dag.task_ids) == {"plan", "dataset", "servers", *cells, "remove_servers", "aggregate"}
    edges = {(task.task_id, down) for task in dag.tasks for down in task.downstream_task_ids}
    assert {("plan", "dataset"), ("dataset", "aggregate")} <= edges
    assert dag.get_task("dataset").trigger_rule == "all_done", "it cleans up after a refused plan, too"
    for step in ("write", "read", "drop"):
        assert {("dataset", f"cell.{step}"), (f"cell.{step}", "aggregate")} <= edges


def test_a_study_without_a_dataset_cleans_up_before_its_cells_too(dags):
    for name in ("parquet_copy", "point_operations"):
        dag = dags[name]
        edges = {(task.task_id, down) for task in dag.tasks for down in task.downstream_task_ids}
        cells = {task.task_id for task in dag.tasks if task.task_id.startswith("cell.")}
        assert {("plan", "clean"), ("clean", "aggregate"), *(("clean", one) for one in cells)} <= edges
        clean = dag.get_task("clean")
        assert (clean.trigger_rule, clean.pool) == ("all_done", "benchmark")


def test_servers_are_made_before_the_cells_and_removed_after_them_whatever_becomes_of_these(dag):
    edges = {(task.task_id, down) for task in dag.tasks for down in task.downstream_task_ids}
    assert {("dataset", "servers"), ("servers", "aggregate"), ("servers", "remove_servers")} <= edges
    for step in ("write", "read", "drop"):
        assert {("servers", f"cell.{step}"), (f"cell.{step}", "remove_servers")} <= edges
    remove = dag.get_task("remove_servers")
    assert remove.is_teardown, "so Airflow runs it after a stop, too"
    assert remove.downstream_task_ids == set(), "or a run that was stopped would be a success to Airflow"
    assert remove.on_failure_fail_dagrun and dag.get_task("servers").pool == "benchmark"


def test_a_study_whose_stores_have_no_topology_has_no_such_steps(dags):
    assert {"servers", "remove_servers"}.isdisjoint(dags["map_formats"].task_ids)


def test_a_study_with_a_mistake_is_among_the_import_errors_and_the_others_go_on(tmp_path):
    from airflow.dag_processing.dagbag import DagBag

    text = (DAGS / "bulk_write_read.py").read_text()
    (tmp_path / "good.py").write_text(text)
    (tmp_path / "bad.py").write_text(text.replace('needs=("write", "maintain")', 'needs=("fill",)'))
    bag = DagBag(dag_folder=str(tmp_path), bundle_name="dags-folder")
    ((path, error),) = bag.import_errors.items()
    assert Path(path).name == "bad.py"
    assert "the operation 'read' needs 'fill', which is not there" in error
    assert set(bag.dags) == {"bulk_write_read"}


def test_pods_share_a_pool_and_finish_a_cell_before_the_next(dag):
    steps = ("cell.write", "cell.maintain", "cell.read", "cell.drop")
    pods = [dag.get_task(name) for name in ("dataset", *steps)]
    assert {task.pool for task in pods} == {"benchmark"}
    assert [task.retries for task in pods[:-1]] == [0, 1, 1, 1], (
        "once more, to pick up the pod of a try that died"
    )
    assert pods[-1].retries > 1, "what was written is not left in a store that is away for a while"
    assert {type(task.weight_rule).__name__ for task in pods[1:]} == {"CellByCell"}
    assert [task.priority_weight for task in pods[1:]] == [0, 1, 2, 3]


def test_what_airflow_keeps_of_the_dag_has_the_order_of_the_steps(dag, monkeypatch):
    from airflow import plugins_manager
    from airflow.serialization.serialized_objects import DagSerialization

    for name, ours in (("timetables", GridTimetable), ("priority_weight_strategy", CellByCell)):
        known = {f"{ours.__module__}.{ours.__qualname__}": ours}
        monkeypatch.setattr(plugins_manager, f"get_{name}_plugins", lambda known=known: known)
    kept = DagSerialization.from_dict(DagSerialization.to_dict(dag))
    steps = [kept.get_task(f"cell.{step}") for step in ("write", "read", "drop")]
    weights = [
        step.weight_rule.get_weight(SimpleNamespace(run_id="r", task=step, map_index=index))
        for index in range(2)
        for step in steps
    ]
    assert weights == sorted(set(weights), reverse=True)


def test_a_study_has_as_many_operations_as_can_be_told_apart_in_their_order(monkeypatch):
    for store in [STUDY.store(name) for name in STUDY.stores]:
        monkeypatch.setattr(store, "operations", ("step_1",))
        monkeypatch.setattr(store, "typical", ())
        monkeypatch.setattr(store, "lacks", ())
    many = tuple(Operation(f"step_{n}", ("only_s",)) for n in range(MOST_STEPS))
    assert study_dag(replace(STUDY, operations=many[1:])).task_ids
    with pytest.raises(SpecError, match="a cell can have 31 operations, not 32"):
        study_dag(replace(STUDY, operations=many))


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
    cleans = [bag.dags[CLEAN_DAG].get_task(name) for name in ("clean", "clean_v8")]
    assert [(task.pool, task.node_pool.name) for task in cleans] == [
        ("benchmark", ""),
        ("benchmark_v8", "v8"),
    ]


def test_cleaning_waits_for_cells_and_closes_runs_first(dags):
    found = dags[CLEAN_DAG]
    assert {task.task_id: task.downstream_task_ids for task in found.tasks} == {
        "close": {"clean"},
        "clean": {"end"},
        "end": set(),
    }
    clean = found.get_task("clean")
    assert (clean.pool, clean.priority_weight) == ("benchmark", LAST)
    assert clean.weight_rule == "absolute"
    assert (clean.trigger_rule, found.schedule) == ("all_done", None)


def test_each_step_of_a_cell_says_what_it_leaves_if_it_is_cleared(dag):
    for step in ("write", "read", "drop"):
        text = dag.get_task(f"cell.{step}").doc_md
        assert "If you clear a step that leaves data, and not **drop**, the data stays in the store" in text
        assert "clear **all its steps** together: write, maintain, read, drop" in text and COMMAND in text


@pytest.fixture
def called(dag, monkeypatch):
    """Call the function of a step; returns what it called of the modules that it wires, in order."""
    from storebench.airflow.dags import study as module

    calls, failed = [], []

    def note(name, result=None):
        return lambda *arguments, **_: calls.append((name, *arguments[1:])) or result

    class Event:
        def __setattr__(self, name, value):
            calls.append((name, value))

    def step(name, states):
        ti = SimpleNamespace(get_task_states=lambda **_: {"r": states})
        context = {"ti": ti, "dag": SimpleNamespace(dag_id="d"), "run_id": "r", "params": {}, "dag_run": None}
        context["outlet_events"] = {Asset(f"storebench://{dag.dag_id}"): Event()}
        monkeypatch.setattr(module, "get_current_context", lambda: context)
        dag.get_task(name).python_callable()
        return calls

    repository = SimpleNamespace(
        recorded_turns=lambda run_id: [],
        finish_run=lambda run_id, reason: calls.append(("finish", run_id, reason)) or failed,
        cells_of_run=lambda run_id: [],
        run_counted=lambda run_id: {"verified": 4, "disturbed": 1, "failed": 0, "not_run": 0},
    )
    monkeypatch.setattr(module.connections, "repository", lambda *_: repository)
    monkeypatch.setattr(module, "fill_gaps", note("fill gaps", 0))
    monkeypatch.setattr(module, "refresh", lambda *_: None)
    monkeypatch.setattr(module.secrets, "release", lambda run_id: calls.append(("release", run_id)))
    step.calls, step.failed = calls, failed
    return step


def test_the_last_step_fills_gaps_with_the_reason_removes_the_runs_secrets_then_tells_other_dags(called):
    assert called("aggregate", {"plan": "success", "dataset": "success"}) == [
        ("fill gaps", "d/r", set(), None),
        ("finish", "d/r", None),
        ("release", "d/r"),
        ("extra", {"run": "d/r", "verified": 4, "disturbed": 1}),
    ]


def test_only_the_last_step_has_the_asset_that_other_dags_can_follow(dag):
    outlets = {task.task_id: [one.name for one in task.outlets] for task in dag.tasks if task.outlets}
    assert outlets == {"aggregate": ["storebench://bulk_write_read"]}


def test_the_last_step_records_which_step_before_the_cells_has_failed(called):
    why = "The step dataset failed. Its log, or the scheduler's, says why"
    with pytest.raises(AirflowFailException):
        called("aggregate", {"plan": "success", "dataset": "failed"})
    assert called.calls[:2] == [("fill gaps", "d/r", set(), why), ("finish", "d/r", why)]


def test_the_error_of_a_large_run_names_some_of_its_failures_and_counts_them(called):
    called.failed += [
        {"operation": "write", "cell_key": f"cell-{n}", "error_kind": "timeout", "error": "slow"}
        for n in range(20_000)
    ]
    with pytest.raises(AirflowFailException) as caught:
        called("aggregate", {"plan": "success"})
    first, *lines, last = str(caught.value).splitlines()
    assert first == "20000 operations are not verified:" and last == "… and 19950 more"
    assert len(lines) == 50 and lines[0] == "write cell-0: timeout: slow"
    called.failed.clear()
    with pytest.raises(AirflowFailException) as caught:
        called("aggregate", {f"clean_{n:05d}": "failed" for n in range(20_000)})
    assert str(caught.value).endswith("clean_00049 and 19950 more")


def test_every_parameter_has_a_title_and_a_help_text(dag):
    for name in dag.params:
        schema = dag.params.get_param(name).schema
        assert schema["title"] and schema["description_md"], name


def test_the_form_says_how_many_operations_a_run_has(dag):
    text = dag.params.get_param("stores").schema["description_md"]
    # mongodb, elasticsearch, delta-rs: 2 batches, 2 clients; delta-spark: with 2 executors, too; null has one client. All write and read.
    # delta-standalone has one client, delta-kernel two: they read. Of 20,000 rows, batches of 100,000 are all at once.
    assert "28 cells" in text and "**50 operations**" in text
    assert "With its 20,000 rows they take about 20 min on a machine with two cores" in text


def test_the_page_of_the_dag_has_the_dates_of_its_cells_and_what_to_tick(dag):
    assert "| mongodb | reference | 2001-01-01 00:00 | 2001-01-03 00:00 | 3 |" in dag.doc_md
    assert "| delta-spark | tuned | 2004-02-01 00:00 | 2004-02-03 02:00 | 9 |" in dag.doc_md
    dates = (
        "year 2001 = mongodb, 2002 = elasticsearch, 2003 = delta-rs, 2004 = delta-spark, 2005 = delta-standalone, 2006 = delta-kernel,"
        " 2007 = null, 2008 = parquet, 2009 = duckdb, 2010 = postgresql, 2011 = pyiceberg, 2012 = chdb, 2013 = iceberg-spark;"
        " month 1 = reference, 2 = tuned; day 1 = 10000, 2 = 100000, 3 = all; hour 0 = 1, 1 = 2, 2 = 4; minute 0 = off; second 0 = 1;"
        " microsecond 0 = none."
    )
    tick = "**Override parameters on existing runs**"
    for text in (
        dag.doc_md,
        dag.params.get_param("stores").schema["description_md"],
    ):  # the dialog has the form
        assert dates in text and tick in text
