import dataclasses
import json
import os
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowSkipException

from storebench.airflow import connections, images
from storebench.airflow.dags import plan
from storebench.airflow.dags.plan import plan_of
from storebench.errors import SpecError, StoreUnreachable
from storebench.planning import draft
from storebench.planning.draft import order_of, repeats_of
from storebench.planning.node_pools import DEFAULT, VARIABLE, NodePool, node_pool_of
from storebench.planning.params import run_values
from storebench.planning.turns import killed_of, labels_of, reason_to_stop, skips_done
from storebench.spark.options import ENCRYPTION, KEY_NAME
from storebench.stores.base import TypicalTime
from storebench.study.grid import Grid
from storebench.study.model import Operation
from storebench.study.order import Turn
from storebench.study.studies import find
from tests.unit.example import STUDY, cell

CELLS = tuple(cell("null", batch=size) for size in ("10", "20"))
PARAMS = {
    "repeats": 3,
    "order_seed": 5,
    "warm_up": False,
    "a_a": False,
    "profile": "off",
    "random_order": True,
    "skip_done": None,
    "budget_min": None,
    "precision_percent": None,
}


class Measured:
    """The attempts of one run, as storebench.results.database.queries finds them."""

    def __init__(self, seconds, started_at=None, disturbed=None):
        self.seconds, self.disturbed = seconds, disturbed
        self.started_at = started_at or datetime.now(UTC)

    def run_named(self, name):
        return {"started_at": self.started_at, "rested_s": 0.0}

    def attempts_of_run(self, run_id):
        return [
            {
                "cell_key": CELLS[0].key,
                "operation": operation,
                "status": "verified",
                "disturbed": self.disturbed,
                "value": s,
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
    assert not skips_done({**PARAMS, "skip_done": asked, "profile": "cpu"}, run_type)


def test_only_the_repeats_that_lack_are_run_and_the_rest_is_said():
    repeats, skipped = repeats_of(Grid(CELLS, 0), 3, {CELLS[0]: 3, CELLS[1]: 1})
    assert repeats == {CELLS[1]: 2}
    assert list(skipped) == [CELLS[0]] and skipped[CELLS[0]].startswith("already verified 3 times")
    assert repeats_of(Grid(CELLS, 0), 3, {}) == (dict.fromkeys(CELLS, 3), {})


def test_an_order_without_a_seed_gets_one_that_makes_it_again():
    as_given, _ = order_of(STUDY, dict.fromkeys(CELLS, 4), {**PARAMS, "random_order": False})
    assert [turn.cell for turn in as_given] == [*CELLS] * 4
    order, seed = order_of(STUDY, dict.fromkeys(CELLS, 4), {**PARAMS, "order_seed": None})
    assert order_of(STUDY, dict.fromkeys(CELLS, 4), {**PARAMS, "order_seed": seed}) == (order, seed)


def test_labels_say_which_repeat_only_where_there_are_several():
    assert labels_of([Turn(CELLS[0], 1), Turn(CELLS[1], 1), Turn(CELLS[0], 2)], DEFAULT) == [
        "null reference batch=10 #1",
        "null reference batch=20",
        "null reference batch=10 #2",
    ]
    arms = [Turn(CELLS[0], 1, "A"), Turn(CELLS[0], 2, "B")]
    assert [label.rpartition("batch=10 ")[2] for label in labels_of(arms, DEFAULT)] == [
        "#1 (A)",
        "#2 (B)",
    ]


def test_a_cell_is_measured_on_until_its_median_is_known_well_enough():
    params = {**PARAMS, "precision_percent": 5}
    exact, loose = [1.0, 1.01, 1.0, 0.99, 1.0, 1.0], [1.0, 2.0, 1.5, 1.2, 0.9, 1.1]
    assert "known to within" in reason_to_stop(STUDY, Measured(exact), "r", CELLS[0], 7, params)
    assert reason_to_stop(STUDY, Measured(loose), "r", CELLS[0], 7, params) is None
    assert reason_to_stop(STUDY, Measured(exact[:5]), "r", CELLS[0], 6, params) is None, "too few"
    disturbed = Measured(exact, disturbed="throttled in 3 periods")
    assert reason_to_stop(STUDY, disturbed, "r", CELLS[0], 7, params) is None, (
        "disturbed repeats tell nothing"
    )
    assert reason_to_stop(STUDY, Measured(exact), "r", CELLS[1], 7, params) is None, "another cell"
    assert reason_to_stop(STUDY, Measured(exact), "r", CELLS[0], 7, PARAMS) is None, "not asked for"


def test_a_task_is_known_by_its_place_in_the_order():
    order = [Turn(CELLS[0], 1), Turn(CELLS[1], 1), Turn(CELLS[0], 2)]
    failed = ["cell.write_2", "cell.read_1", "cell.drop_0", "cell.write", "dataset", "plan"]
    states = {**dict.fromkeys(failed, "failed"), "cell.write_0": "success", "cell.write_1": "success"}
    assert killed_of(STUDY, states, order) == {(CELLS[0].key, 2, "write"), (CELLS[1].key, 1, "read")}


def test_each_pool_of_nodes_has_its_own_turns(monkeypatch):
    monkeypatch.setenv(VARIABLE, "v8, v9")
    cells = [cell(name) for name in ("mongodb", "mongodb@v7", "mongodb@v8")]
    order, _ = order_of(STUDY, dict.fromkeys(cells, 1), PARAMS)
    where = {turn.cell.store: turn.node_pool for turn in order}
    assert where == {"mongodb": "", "mongodb@v7": "", "mongodb@v8": "v8"}
    assert labels_of(order, NodePool("v8")) == ["mongodb@v8 reference batch=10"]
    assert len(labels_of(order, DEFAULT)) == 2 and labels_of(order, NodePool("v9")) == []
    assert killed_of(STUDY, {"cell_v8.write_0": "failed"}, order) == {(cells[2].key, 1, "write")}


def test_a_store_without_a_server_can_be_in_a_pool_that_there_is(monkeypatch):
    monkeypatch.setenv(VARIABLE, "v8")
    assert node_pool_of(STUDY, "null@v8") == NodePool("v8")
    assert node_pool_of(STUDY, "null") == node_pool_of(STUDY, "mongodb@v9") == DEFAULT
    assert node_pool_of(STUDY, "delta-spark@hdfs") == node_pool_of(STUDY, "delta-spark@hdfs_v9") == DEFAULT
    with pytest.raises(SpecError, match=r"no pool of nodes 'v9'. STOREBENCH_NODE_POOLS has v8"):
        node_pool_of(STUDY, "null@v9")


def test_a_read_after_a_failed_write_was_not_killed():
    states = {"cell.write_0": "failed", "cell.read_0": "failed", "cell.drop_0": "success"}
    assert killed_of(STUDY, states, [Turn(CELLS[0], 1)]) == {(CELLS[0].key, 1, "write")}
    states["cell.write_0"] = "upstream_failed"
    assert killed_of(STUDY, states, [Turn(CELLS[0], 1)]) == set()


def test_whose_failure_a_step_was_follows_from_what_it_needs():
    """Preceding steps do not matter: a second read depends on the write alone."""
    again = Operation("again", ("only_s",), needs=("write",))
    study = dataclasses.replace(STUDY, operations=(*STUDY.operations, again))
    turns, key = [Turn(CELLS[0], 1)], CELLS[0].key
    states = {"cell.write_0": "success", "cell.read_0": "failed", "cell.again_0": "failed"}
    assert killed_of(study, states, turns) == {(key, 1, "read"), (key, 1, "again")}
    failed = dict.fromkeys(states, "failed")
    assert killed_of(study, failed, turns) == {(key, 1, "write")}


def test_a_budget_ends_repeats_but_each_cell_is_measured_once():
    spent = Measured([], datetime.now(UTC) - timedelta(minutes=10))
    params = {**PARAMS, "budget_min": 5}
    assert reason_to_stop(STUDY, spent, "r", CELLS[0], 2, params) == "the budget of 5 minutes is spent"
    assert reason_to_stop(STUDY, spent, "r", CELLS[0], 1, params) is None
    assert reason_to_stop(STUDY, spent, "r", CELLS[0], 2, {**params, "budget_min": 20}) is None


class Recorded:
    """The records that a plan reads and writes, in memory."""

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
    monkeypatch.setattr(plan.connections, "repository", lambda *_: kept)
    monkeypatch.setattr(plan, "airflow_id", lambda: "this")
    monkeypatch.setattr(plan.preflight, "check", lambda study, rows, dataset_bytes: None)
    monkeypatch.setattr(plan.preflight, "check_embedded", lambda *_: None)
    monkeypatch.setattr(plan.secrets, "apply", lambda *_: None)
    monkeypatch.setattr(images, "named", "registry.example.com/{}:1".format)
    for name in list(os.environ):
        if name.startswith("AIRFLOW_CONN_STOREBENCH_"):
            monkeypatch.delenv(name)
    for name, host in (("s3", {}), ("mongodb", {"host": "db"}), ("elasticsearch", {"host": "es"})):
        monkeypatch.setenv(f"AIRFLOW_CONN_STOREBENCH_{name.upper()}", json.dumps({"conn_type": name, **host}))
    return kept


def dag_run(run_type="manual", conf=None, partition=None):
    return SimpleNamespace(dag_id="d", run_id="r", run_type=run_type, conf=conf, partition_key=partition)


def test_a_plan_refuses_caches_that_cannot_be_emptied_before_anything_is_woken(study, recorded, monkeypatch):
    monkeypatch.setattr(plan.preflight, "check_embedded", lambda *_: pytest.fail("it was woken"))
    asked = {"stores": ["mongodb"], "clients": ["reference"], "batch": "all", "cache": "cold"}
    with pytest.raises(SpecError, match=r"cache=cold .* in the place of mongodb ask for mongodb@one or"):
        plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
    assert recorded.started is None and "cache=cold" in recorded.refused["reason"]


def test_caches_that_are_not_known_are_refused(study, recorded):
    asked = {"stores": ["null"], "cache": "warm"}
    with pytest.raises(SpecError, match="Caches of reads: 'warm' is not one of as_is, cold, lukewarm, hot"):
        plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))


def test_a_plan_says_how_many_operations_a_run_has_and_how_long_they_take(
    study, recorded, capsys, monkeypatch
):
    times = (TypicalTime("write", 10.0), TypicalTime("read", 5.0))
    monkeypatch.setattr(study.store("mongodb"), "typical", times)
    monkeypatch.setattr("storebench.results.forecast.expected.slowness", lambda: 1.0)
    asked = {"stores": ["mongodb"], "clients": ["reference"], "batch": "1000, all", "repeats": "3"}
    params = {**run_values(study, {}), **asked}
    assert len(plan_of(study, params, dag_run(conf=asked))) == 6
    said = "Cells: 2. Operations: 12. They take about 2 min, by the typical times of their stores"
    assert said in capsys.readouterr().out
    assert recorded.started["expected_s"] == pytest.approx(6 * (10 + 5))
    assert recorded.started["params"]["repeats"] == 3, "as values, not as the form's texts"
    assert recorded.refused is None


def test_a_plan_asks_with_its_estimate_before_the_run_is_recorded(study, recorded):
    asked = {"stores": ["null"], "clients": ["reference"], "batch": "all", "repeats": 2}
    questions = []

    def ask(seconds, lines):
        assert recorded.started is None
        questions.append((seconds, lines))

    plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked), None, ask)
    ((seconds, lines),) = questions
    assert recorded.started["expected_s"] == seconds
    assert lines[0].startswith("Cells: 1. Operations: 4. They take about")


def test_what_a_plan_refuses_is_recorded_with_its_reason(study, recorded):
    params = {**run_values(study, {}), "rows": "-5"}
    reason = "Rows: '-5' is not a whole number from 1 to 1,000,000,000"
    with pytest.raises(SpecError, match=reason):
        plan_of(study, params, dag_run(conf={"rows": "-5"}))
    assert recorded.started is None
    assert recorded.refused == {
        "study": study,
        "dag_id": "d",
        "airflow_run_id": "r",
        "requested": params,
        "reason": reason,
        "airflow_id": "this",
    }


def test_a_reason_that_cannot_be_recorded_is_not_lost(study, recorded, monkeypatch):
    def away(**_):
        raise StoreUnreachable("the database does not answer")

    monkeypatch.setattr(recorded, "refuse_run", away)
    with pytest.raises(SpecError, match="Unknown parameter 'rowz'"):
        plan_of(study, {**run_values(study, {}), "rowz": 1}, dag_run(conf={"rowz": 1}))


CELL = "mongodb/reference/batch=all"


def test_a_backfill_without_parameters_is_refused_and_says_what_to_tick(study, recorded):
    run = dag_run("backfill", {}, CELL)
    with pytest.raises(SpecError, match="tick 'Override parameters on existing runs'"):
        plan_of(study, run_values(study, {}), run)
    assert recorded.refused["reason"].startswith("This backfill has come without parameters")


def test_a_backfill_with_parameters_measures_the_cell_of_its_date(study, recorded, monkeypatch):
    monkeypatch.setattr(draft, "verified_repeats", lambda *_: {})
    labels = plan_of(study, run_values(study, {"rows": 1000}), dag_run("backfill", {"rows": 1000}, CELL))
    assert labels == ["mongodb reference batch=all"]


def test_a_backfill_does_not_measure_all_at_once_again_as_a_larger_batch(study, recorded, monkeypatch):
    monkeypatch.setattr(draft, "verified_repeats", lambda *_: {})
    large = dag_run("backfill", {"rows": 1000}, "mongodb/reference/batch=10000")
    with pytest.raises(AirflowSkipException, match="batch=10000 is the same as batch=all"):
        plan_of(study, run_values(study, {"rows": 1000}), large)


def test_a_run_that_provisions_servers_is_planned_without_their_connection_and_its_groups_stay_together(
    study, recorded, monkeypatch
):
    seen = {}
    monkeypatch.setattr(
        plan.provision.connections, "exists", lambda name: not name.endswith(("_one", "_three"))
    )
    monkeypatch.setattr(plan.provision, "check", lambda groups, params: seen.update(checked=groups))
    monkeypatch.setattr(plan.secrets, "apply", lambda run, names, pool: seen.update(names=names))
    monkeypatch.setattr(
        plan.preflight,
        "check_embedded",
        lambda study, used, server_images: seen.update(server_images=server_images),
    )
    stores = ["elasticsearch@one", "null", "elasticsearch@three"]
    asked = {"stores": stores, "clients": ["reference"], "batch": "1000, all", "repeats": 2}
    labels = plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
    order = [label.split()[0] for label in labels]
    assert len(order) == 12 and len([n for n in range(1, 12) if order[n] != order[n - 1]]) == 2
    assert seen["names"] == ["s3"]
    image = {"servers_elasticsearch"}
    assert seen["server_images"] == {"elasticsearch@one": image, "elasticsearch@three": image}
    assert {group.key for group in seen["checked"]} == set(seen["server_images"])


def test_the_pods_of_a_filling_store_have_their_images_servers_and_secrets_checked(
    study, recorded, monkeypatch
):
    checked = {}
    for name in ("check_embedded", "check_images"):
        monkeypatch.setattr(
            plan.preflight,
            name,
            lambda study, stores, servers, name=name: checked.update({name: set(stores)}),
        )
    applied = []
    monkeypatch.setattr(plan.secrets, "apply", lambda run, names, pool: applied.append((pool, names)))
    monkeypatch.setenv(VARIABLE, "v8")
    asked = {"stores": ["delta-kernel@v8"], "clients": ["reference"], "batch": "all", ENCRYPTION: True}
    plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
    stores = {"delta-kernel@v8", "delta-spark"}
    assert checked == {"check_embedded": stores, "check_images": stores}
    names = ["s3", KEY_NAME]
    assert sorted(applied, key=str) == sorted([(DEFAULT, names), (NodePool("v8"), names)], key=str)


def test_what_does_not_fit_on_the_cluster_is_refused_and_recorded(study, recorded, monkeypatch):
    def full(groups, params):
        raise SpecError("no room")

    monkeypatch.setattr(plan.provision.connections, "exists", lambda name: False)
    monkeypatch.setattr(plan.provision, "check", full)
    asked = {"stores": ["elasticsearch@one"]}
    with pytest.raises(SpecError, match="no room"):
        plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
    assert recorded.refused["reason"] == "no room" and recorded.started is None


def test_an_unknown_topology_is_refused(study, recorded, monkeypatch):
    monkeypatch.setattr(plan.provision.connections, "exists", lambda name: False)
    asked = {"stores": ["elasticsearch@nine"]}
    with pytest.raises(SpecError, match=r"'elasticsearch@nine' means no server: .* there are: one, three"):
        plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))


@pytest.fixture
def file(monkeypatch):
    """Return a user's file with a column that Delta Lake cannot hold."""
    manifest = {"rows": 900, "bytes": 5_000, "schema": [{"name": "net price", "type": "string"}]}
    found = {"rows": 900, "seed": 77}
    monkeypatch.setattr(
        plan.custom_file,
        "with_file",
        lambda study, params, make: ({**params, **found}, {**manifest, "made_by": make}),
    )
    return "s3://bucket/orders.csv"


def test_a_file_of_ones_own_is_measured_where_it_can_be_held_and_the_rest_is_left_out(
    study, recorded, file, capsys
):
    asked = {
        "dataset": file,
        "stores": ["mongodb", "delta-rs"],
        "clients": ["reference"],
        "batch": "all,1000",
    }
    labels = plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
    assert labels == ["mongodb reference batch=all"], "it has fewer rows than the other batch"
    assert (recorded.started["params"]["rows"], recorded.started["params"]["seed"]) == (900, 77)
    ((cell, reason),) = recorded.started["skipped"].items()
    assert (cell.store, cell.rows, cell.seed) == ("delta-rs", 900, 77)
    assert reason.startswith("delta-rs cannot hold this dataset: the column 'net price' would need")
    assert f"{cell.label} is excluded: {reason}" in capsys.readouterr().out


def test_a_run_none_of_whose_stores_can_hold_it_is_refused_with_the_reason(study, recorded, file):
    asked = {"dataset": file, "stores": ["delta-rs", "delta-kernel"], "batch": "all"}
    with pytest.raises(SpecError, match="No cell is left to run: delta-rs cannot hold this dataset: "):
        plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
    assert recorded.started is None and "cannot hold" in recorded.refused["reason"]


def test_a_plan_refuses_a_connection_by_the_name_of_its_field_and_tells_no_secret(
    study, recorded, monkeypatch
):
    monkeypatch.setattr(plan.preflight, "check_embedded", lambda *_: pytest.fail("it was woken"))
    typed = {"conn_type": "mongo", "host": "mongodb://bench:S3cr3t@db:27017/storebench"}
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_MONGODB", json.dumps(typed))
    asked = {"stores": ["mongodb"], "clients": ["reference"]}
    with pytest.raises(SpecError, match="storebench_mongodb: host: holds a login") as caught:
        plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
    assert "storebench_mongodb: host" in recorded.refused["reason"]
    assert "S3cr3t" not in str(caught.value) + recorded.refused["reason"]


def test_an_extra_that_is_no_json_is_refused(study, recorded, monkeypatch):
    typed = {"conn_type": "mongo", "host": "db", "extra": "tls=true"}
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_MONGODB", json.dumps(typed))
    asked = {"stores": ["mongodb"], "clients": ["reference"]}
    with pytest.raises(SpecError, match="storebench_mongodb: extra: has to be an object of JSON"):
        plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))


def test_an_extra_that_is_nested_too_deeply_is_refused(monkeypatch):
    stored = Connection(conn_id="storebench_mongodb", conn_type="mongo", host="db", extra="[" * 100_000)
    monkeypatch.setattr(connections, "get", lambda name: stored)
    with pytest.raises(SpecError, match="storebench_mongodb: extra: has to be an object of JSON"):
        connections.pod("mongodb")


def test_a_bucket_that_java_cannot_address_leaves_out_the_stores_with_a_client_in_java(
    study, recorded, monkeypatch
):
    monkeypatch.setenv(
        "AIRFLOW_CONN_STOREBENCH_S3", json.dumps({"conn_type": "aws", "extra": {"bucket": "my_bucket"}})
    )
    asked = {"stores": ["delta-spark", "delta-kernel", "delta-rs"], "clients": ["reference"], "batch": "all"}
    plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
    assert {turn.cell.store for turn in recorded.started["turns"]} == {"delta-rs"}
    assert {cell.store for cell in recorded.started["skipped"]} == {"delta-spark", "delta-kernel"}
    assert all("'my_bucket'" in reason for reason in recorded.started["skipped"].values())
    asked["stores"] = ["delta-spark"]
    with pytest.raises(
        SpecError, match="No cell is left to run: delta-spark cannot use the bucket 'my_bucket'"
    ):
        plan_of(study, {**run_values(study, {}), **asked}, dag_run(conf=asked))
