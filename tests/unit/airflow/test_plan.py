from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from storebench.airflow import plan
from storebench.airflow.node_pools import DEFAULT, VARIABLE, NodePool, node_pool_of
from storebench.airflow.params import defaults_of
from storebench.airflow.plan import (
    killed_of,
    labels_of,
    order_of,
    plan_of,
    reason_to_stop,
    repeats_of,
    skips_done,
)
from storebench.errors import SpecError, StoreUnreachable
from storebench.grid import Cell, Grid
from storebench.order import Turn
from storebench.studies import find

CELLS = tuple(Cell("s", "null", "reference", (("batch", size),), 1000, 42) for size in ("10", "20"))
PARAMS = {
    "repeats": 3,
    "order_seed": 5,
    "warm_up": False,
    "a_a": False,
    "random_order": True,
    "skip_done": None,
    "budget_min": None,
    "precision_percent": None,
}


class Measured:
    """The attempts of one run, as storebench.results.queries finds them."""

    def __init__(self, seconds, started_at=None, disturbed=None):
        self.seconds, self.disturbed = seconds, disturbed
        self.started_at = started_at or datetime.now(UTC)

    def run_named(self, name):
        return {"started_at": self.started_at}

    def attempts_of_run(self, run_id):
        return [
            {
                "cell_key": CELLS[0].key,
                "operation": operation,
                "status": "verified",
                "disturbed": self.disturbed,
                f"{operation}_only_s": s,
            }
            for operation in ("write", "read")
            for s in self.seconds
        ]


@pytest.mark.parametrize(
    ("asked", "run_type", "skips"),
    [
        (None, "backfill", True),
        (None, "manual", False),
        (True, "manual", True),
        (False, "backfill", False),
    ],
)
def test_a_backfill_leaves_out_what_is_done_unless_told_otherwise(asked, run_type, skips):
    assert skips_done({**PARAMS, "skip_done": asked}, run_type) is skips


def test_only_the_repeats_that_lack_are_run_and_the_rest_is_said(monkeypatch):
    monkeypatch.setattr(
        "storebench.airflow.plan.verified_repeats",
        lambda queries, cells, params, image: {CELLS[0]: 3, CELLS[1]: 1},
    )
    repeats, skipped = repeats_of(Grid(CELLS, 0), PARAMS, object())
    assert repeats == {CELLS[1]: 2}
    assert list(skipped) == [CELLS[0]] and skipped[CELLS[0]].startswith("already verified 3 times")
    assert repeats_of(Grid(CELLS, 0), PARAMS, None) == (dict.fromkeys(CELLS, 3), {})


def test_an_order_without_a_seed_gets_one_that_makes_it_again():
    as_given, _ = order_of(dict.fromkeys(CELLS, 4), {**PARAMS, "random_order": False})
    assert [turn.cell for turn in as_given] == [*CELLS] * 4
    order, seed = order_of(dict.fromkeys(CELLS, 4), {**PARAMS, "order_seed": None})
    assert order_of(dict.fromkeys(CELLS, 4), {**PARAMS, "order_seed": seed}) == (order, seed)


def test_labels_say_which_repeat_only_where_there_are_several():
    assert labels_of([Turn(CELLS[0], 1), Turn(CELLS[1], 1), Turn(CELLS[0], 2)], DEFAULT) == [
        "null reference batch=10 #1",
        "null reference batch=20",
        "null reference batch=10 #2",
    ]
    arms = [Turn(CELLS[0], 1, "A"), Turn(CELLS[0], 2, "B")]
    assert [label.rpartition("batch=10 ")[2] for label in labels_of(arms, DEFAULT)] == ["#1 (A)", "#2 (B)"]


def test_a_cell_is_measured_on_until_its_median_is_known_well_enough():
    params = {**PARAMS, "precision_percent": 5}
    exact, loose = [1.0, 1.01, 1.0, 0.99, 1.0, 1.0], [1.0, 2.0, 1.5, 1.2, 0.9, 1.1]
    assert "known to within" in reason_to_stop(Measured(exact), "r", CELLS[0], 7, params)
    assert reason_to_stop(Measured(loose), "r", CELLS[0], 7, params) is None
    assert reason_to_stop(Measured(exact[:5]), "r", CELLS[0], 6, params) is None, "too few"
    disturbed = Measured(exact, disturbed="throttled in 3 periods")
    assert reason_to_stop(disturbed, "r", CELLS[0], 7, params) is None, "disturbed repeats tell nothing"
    assert reason_to_stop(Measured(exact), "r", CELLS[1], 7, params) is None, "another cell"
    assert reason_to_stop(Measured(exact), "r", CELLS[0], 7, PARAMS) is None, "not asked for"


def test_a_task_is_known_by_its_place_in_the_order():
    order = [Turn(CELLS[0], 1), Turn(CELLS[1], 1), Turn(CELLS[0], 2)]
    failed = ["cell.write_2", "cell.read_1", "cell.drop_0", "cell.write", "dataset", "plan"]
    states = {**dict.fromkeys(failed, "failed"), "cell.write_0": "success", "cell.write_1": "success"}
    assert killed_of(states, order) == {(CELLS[0].key, 2, "write"), (CELLS[1].key, 1, "read")}


def test_each_pool_of_nodes_has_its_own_turns(monkeypatch):
    monkeypatch.setenv(VARIABLE, "v8, v9")
    cells = [Cell("s", name, "reference", (), 1000, 42) for name in ("mongodb", "mongodb@v7", "mongodb@v8")]
    order, _ = order_of(dict.fromkeys(cells, 1), PARAMS)
    where = {turn.cell.store: turn.node_pool for turn in order}
    assert where == {"mongodb": "", "mongodb@v7": "", "mongodb@v8": "v8"}
    assert labels_of(order, NodePool("v8")) == ["mongodb@v8 reference"]
    assert len(labels_of(order, DEFAULT)) == 2 and labels_of(order, NodePool("v9")) == []
    assert killed_of({"cell_v8.write_0": "failed"}, order) == {(cells[2].key, 1, "write")}


def test_a_store_without_a_server_can_be_in_a_pool_that_there_is(monkeypatch):
    monkeypatch.setenv(VARIABLE, "v8")
    assert node_pool_of("null@v8") == NodePool("v8")
    assert node_pool_of("null") == node_pool_of("mongodb@v9") == DEFAULT
    with pytest.raises(SpecError, match=r"no pool of nodes 'v9'. STOREBENCH_NODE_POOLS has v8"):
        node_pool_of("null@v9")


def test_a_read_after_a_failed_write_was_not_killed():
    states = {"cell.write_0": "failed", "cell.read_0": "failed", "cell.drop_0": "success"}
    assert killed_of(states, [Turn(CELLS[0], 1)]) == {(CELLS[0].key, 1, "write")}


def test_a_budget_ends_repeats_but_each_cell_is_measured_once():
    spent = Measured([], datetime.now(UTC) - timedelta(minutes=10))
    params = {**PARAMS, "budget_min": 5}
    assert reason_to_stop(spent, "r", CELLS[0], 2, params) == "the budget of 5 minutes is spent"
    assert reason_to_stop(spent, "r", CELLS[0], 1, params) is None
    assert reason_to_stop(spent, "r", CELLS[0], 2, {**params, "budget_min": 20}) is None


class Recorded:
    """What a plan reads and writes of the results, in memory."""

    def __init__(self):
        self.started, self.refused = None, None

    def recorded_turns(self, run_id):
        return []

    def start_run(self, **values):
        self.started = values

    def refuse_run(self, **values):
        self.refused = values

    def durations(self, study, stores, operations):
        return []

    def seconds_between(self, study):
        return None


@pytest.fixture(scope="module")
def study():
    return find("bulk_write_read")


@pytest.fixture
def recorded(monkeypatch):
    kept = Recorded()
    monkeypatch.setattr(plan.connections, "repository", lambda: kept)
    monkeypatch.setattr(plan, "airflow_id", lambda: "this")
    monkeypatch.setattr(plan.preflight, "check", lambda rows: None)
    monkeypatch.setattr(plan.preflight, "check_embedded", lambda names: None)
    monkeypatch.setattr(plan.secrets, "apply", lambda *_: None)
    return kept


def dag_run(run_type="manual", conf=None, partition=None):
    return SimpleNamespace(dag_id="d", run_id="r", run_type=run_type, conf=conf, partition_key=partition)


def test_a_plan_says_how_many_operations_a_run_has_and_how_long_they_take(study, recorded, capsys):
    asked = {"stores": ["mongodb"], "clients": ["reference"], "batch_sizes": "1000, all", "repeats": "3"}
    params = {**defaults_of(study, {}), **asked}
    assert len(plan_of(study, params, dag_run(conf=asked))) == 6
    assert (
        "Cells: 2. Operations: 12. They take about 5 min, at 5,000 rows a second" in capsys.readouterr().out
    )
    assert recorded.started["expected_s"] == pytest.approx(12 * (20 + 4))
    assert recorded.started["params"]["repeats"] == 3, "as values, not as the form's texts"
    assert recorded.refused is None


def test_what_a_plan_refuses_is_recorded_with_its_reason(study, recorded):
    params = {**defaults_of(study, {}), "rows": "-5"}
    reason = "Rows: '-5' is not a whole number from 1 to 1,000,000,000"
    with pytest.raises(SpecError, match=reason):
        plan_of(study, params, dag_run(conf={"rows": "-5"}))
    assert recorded.started is None
    assert recorded.refused == {
        "study": "bulk_write_read",
        "dag_id": "d",
        "airflow_run_id": "r",
        "params": params,
        "reason": reason,
        "airflow_id": "this",
    }


def test_a_reason_that_cannot_be_recorded_is_not_lost(study, recorded, monkeypatch):
    def away(**_):
        raise StoreUnreachable("the database does not answer")

    monkeypatch.setattr(recorded, "refuse_run", away)
    with pytest.raises(SpecError, match="Unknown parameter 'rowz'"):
        plan_of(study, {**defaults_of(study, {}), "rowz": 1}, dag_run(conf={"rowz": 1}))


CELL = "mongodb/reference/batch=all"


def test_a_backfill_without_parameters_is_refused_and_says_what_to_tick(study, recorded):
    run = dag_run("backfill", {}, CELL)
    with pytest.raises(SpecError, match="tick 'Override parameters on existing runs'"):
        plan_of(study, defaults_of(study, {}), run)
    assert recorded.refused["reason"].startswith("This backfill has come without parameters")


def test_a_backfill_with_parameters_measures_the_cell_of_its_date(study, recorded, monkeypatch):
    monkeypatch.setattr(plan.connections, "queries", object)
    monkeypatch.setattr(plan, "verified_repeats", lambda *_: {})
    labels = plan_of(study, defaults_of(study, {"rows": 1000}), dag_run("backfill", {"rows": 1000}, CELL))
    assert labels == ["mongodb reference batch=all"]
