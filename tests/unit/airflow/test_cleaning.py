"""Leftovers of ended runs, and their removal, on a cluster in memory."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from botocore.exceptions import EndpointConnectionError

from storebench.airflow import connections
from storebench.airflow.kubernetes.placement import LABEL
from storebench.airflow.operators.cleaning import BeforeCellsOperator, CleanOperator
from storebench.airflow.operators.dataset import DatasetOperator
from storebench.attempt.result import AttemptResult
from storebench.dataset.manifest import dataset_key, manifest_key
from storebench.errors import SpecError
from storebench.planning.node_pools import NodePool
from storebench.results.leftovers.tracking import Undropped
from tests.unit.airflow.account import CELL, MANIFEST, OTHER, VERIFIED, attempt, context, spec_of
from tests.unit.airflow.cluster import ended
from tests.unit.example import STUDY


def orphan(run):
    """Return a pod of this run whose task was killed."""
    labels = {LABEL: "an-attempt", "dag_id": "s", "run_id": run}
    return SimpleNamespace(
        metadata=SimpleNamespace(name="orphan", labels=labels), status=SimpleNamespace(phase="Running")
    )


LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def bucket(monkeypatch):
    """Yield the objects in S3 with their times. A test can make S3 fail."""
    objects = {key(rows, 1): LONG_AGO for rows in (10, 20) for key in (dataset_key, manifest_key)}
    gone = []

    def delete_object(Bucket, Key):  # noqa: N803
        objects.pop(Key, None)
        gone.append(Key)

    def paginate(Bucket, Prefix):  # noqa: N803
        found = sorted(key for key in objects if key.startswith(Prefix))
        yield {"Contents": [{"Key": key, "LastModified": objects[key]} for key in found]}
        yield {}

    found = SimpleNamespace(
        objects=objects,
        gone=gone,
        meta=SimpleNamespace(endpoint_url="http://s3"),
        delete_object=delete_object,
        get_paginator={"list_objects_v2": SimpleNamespace(paginate=paginate)}.__getitem__,
    )
    monkeypatch.setattr(connections, "s3", lambda: found)
    return found


def make_dataset(asked):
    DatasetOperator(task_id="dataset", study=STUDY).execute(asked)


def test_the_dataset_step_drops_what_runs_that_are_over_have_left(cluster, account, dropped):
    for run in ("s/stopped", "s/deleted", "s/goes-on", "s/cleared"):
        account.leaves(run, CELL, 1)
    other = Undropped("s/elsewhere", "s", "elsewhere", CELL, 1, "", "another Airflow")
    account.left["s/elsewhere", CELL, 1] = other
    states = {"stopped": "failed", "goes-on": "running", "cleared": "queued", "now": "running"}
    make_dataset(context("dataset", airflow_states=states))
    assert dropped == [CELL.target("s/stopped", 1), CELL.target("s/deleted", 1)]
    assert {run_id for run_id, *_ in account.left} == {"s/goes-on", "s/cleared", "s/elsewhere"}
    assert account.datasets_made == [("v1/rows=1000/seed=42", 1, 1000, 42, json.loads(MANIFEST))]
    assert cluster.pods == {}


def test_where_no_dataset_is_made_the_step_before_the_cells_only_cleans_up(cluster, account, dropped):
    account.leaves("s/stopped", CELL, 1)
    BeforeCellsOperator(task_id="clean").execute(context("clean", airflow_states={"stopped": "failed"}))
    assert dropped == [CELL.target("s/stopped", 1)] and account.left == {}
    assert len(cluster.started) == 1


@pytest.mark.parametrize("plan", ["failed", "skipped"])
@pytest.mark.parametrize(
    "step",
    [
        lambda: DatasetOperator(task_id="dataset", study=STUDY),
        lambda: BeforeCellsOperator(task_id="clean"),
    ],
    ids=["dataset", "no dataset"],
)
def test_a_run_that_is_refused_or_has_nothing_to_do_cleans_up_all_the_same(
    cluster, account, dropped, plan, step
):
    account.leaves("s/stopped", CELL, 1)
    account.stopped = "refused"
    asked = context("dataset", {"plan": plan}, airflow_states={"stopped": "failed"}, rows="no number")
    with pytest.raises(AirflowSkipException):
        step().execute(asked)
    assert dropped == [CELL.target("s/stopped", 1)] and account.left == {}
    assert (account.datasets_made, account.stopped) == ([], "refused")


def test_a_drop_of_what_was_left_that_runs_out_of_time_says_so(cluster, account):
    account.leaves("s/stopped", CELL, 1)
    told_to_stop = AttemptResult(error_kind="killed", error="The pod was told to stop")
    cluster.end = lambda pod: (ended(143, message=told_to_stop.to_json()), "DeadlineExceeded")
    with pytest.raises(AirflowFailException, match="timeout: Not finished after 600 s"):
        clean(context("clean", airflow_states={"stopped": "failed"}))


def test_nothing_left_costs_no_pod(cluster, account, dropped):
    account.leaves("s/now", CELL, 1)
    make_dataset(context("dataset", airflow_states={"now": "running"}))
    assert dropped == [] and len(cluster.started) == 1
    assert account.left, "what the run itself has written is not its leftover"


def test_the_pods_of_a_run_that_was_stopped_go_before_its_data(cluster, account, dropped):
    account.leaves("s/stopped", CELL, 1)
    cluster.pods["orphan"] = orphan("stopped")
    alive = []
    end = cluster.end
    cluster.end = lambda pod: (alive.append("orphan" in cluster.pods), end(pod))[1]
    make_dataset(context("dataset", airflow_states={"stopped": "failed"}))
    assert alive == [False, False] and len(dropped) == 1


def test_a_store_that_does_not_answer_fails_no_run_and_is_asked_once(cluster, account, caplog):
    for repeat in (1, 2):
        account.leaves("s/stopped", CELL, repeat)
    account.leaves("s/stopped", OTHER, 1)
    away_result = AttemptResult(error_kind="unreachable", error="MongoDB does not answer")

    def end(pod):
        spec = spec_of(pod)
        if spec is None:
            return ended(message=MANIFEST)
        if spec.cell_key == CELL.key:
            return ended(3, message=away_result.to_json())
        return ended(message=VERIFIED.to_json())

    cluster.end = end
    with caplog.at_level("WARNING"):
        make_dataset(context("dataset", airflow_states={"stopped": "failed"}))
    assert [key[1:] for key in account.left] == [(CELL, 1), (CELL, 2)]
    assert len(cluster.started) == 3, "one at MongoDB, one at Elasticsearch, the dataset's"
    assert f"Not removed from the store mongodb: {CELL.target('s/stopped', 2)}" in caplog.text


def test_what_has_no_connection_any_more_is_forgotten(cluster, account, dropped, monkeypatch):
    account.leaves("s/stopped", CELL, 1)

    def get(name):
        if name == "mongodb":
            raise SpecError("There is no Airflow Connection 'storebench_mongodb'")
        return SimpleNamespace(extra_dejson={})

    monkeypatch.setattr(connections, "get", get)
    make_dataset(context("dataset", airflow_states={"stopped": "failed"}))
    assert dropped == [] and account.left == {}


def test_a_task_that_is_stopped_while_it_cleans_up_starts_nothing_more(cluster, account):
    for repeat in (1, 2):
        account.leaves("s/stopped", CELL, repeat)
    operator = DatasetOperator(task_id="dataset", study=STUDY)

    def end(pod):
        operator.on_kill()
        return ended(143)

    cluster.end = end
    with pytest.raises(AirflowFailException, match="The task was stopped"):
        operator.execute(context("dataset", airflow_states={"stopped": "failed"}))
    assert len(cluster.started) == 1 and len(account.left) == 2


def test_the_default_pools_nodes_clean_up_for_a_pool_that_is_there_no_more(cluster, account, dropped):
    account.left["s/stopped", CELL, 1] = Undropped("s/stopped", "s", "stopped", CELL, 1, "gone", "this")
    make_dataset(context("dataset", airflow_states={"stopped": "failed"}))
    assert dropped == [CELL.target("s/stopped", 1)]


def test_the_first_write_of_another_pool_of_nodes_cleans_up_there(cluster, account, dropped, monkeypatch):
    monkeypatch.setenv("STOREBENCH_NODE_POOLS", "v8")
    account.left["s/stopped", CELL, 1] = Undropped("s/stopped", "s", "stopped", CELL, 1, "v8", "this")
    airflow_states = {"stopped": "failed"}
    make_dataset(context("dataset", airflow_states=airflow_states))
    assert dropped == [], "the default pool's step leaves other pools alone"
    attempt("write", NodePool("v8")).execute(context("cell_v8.write", airflow_states=airflow_states))
    assert dropped == [CELL.target("s/stopped", 1)]


@pytest.mark.parametrize(
    ("run", "removed"), [("stopped", True), ("goes-on", False), ("of-somebody-else", False)]
)
def test_pods_are_removed_of_runs_that_are_over_even_if_they_have_left_no_data(
    cluster, account, monkeypatch, run, removed
):
    recorded = [
        {"dag_id": "s", "airflow_run_id": name, "airflow_id": "this"} for name in ("stopped", "goes-on")
    ]
    monkeypatch.setattr(account, "runs", lambda: recorded)
    cluster.pods["orphan"] = orphan(run)
    clean(context("clean", airflow_states={"stopped": "failed", "goes-on": "running"}))
    assert ("orphan" not in cluster.pods) is removed


def clean(asked):
    CleanOperator(task_id="clean").execute(asked)


def test_cleaning_needs_none_of_a_studys_parameters(cluster, account, dropped):
    account.leaves("s/stopped", CELL, 1)
    asked = context("clean", airflow_states={"stopped": "failed"})
    clean({**asked, "params": {}})
    assert dropped == [CELL.target("s/stopped", 1)] and account.left == {}


def test_cleaning_fails_and_names_what_stays_and_why(cluster, account):
    account.leaves("s/stopped", CELL, 1)
    result = AttemptResult(error_kind="unreachable", error="MongoDB at mongo:27017 does not answer")
    cluster.end = lambda pod: ended(3, message=result.to_json())
    with pytest.raises(AirflowFailException) as caught:
        clean(context("clean", airflow_states={"stopped": "failed"}))
    target = CELL.target("s/stopped", 1)
    assert str(caught.value) == (
        f"Not removed:\nmongodb: {target}, of the run stopped: unreachable: MongoDB at mongo:27017 does not answer"
    )


def test_cleaning_removes_datasets_that_no_run_has_but_a_run_does_not(cluster, account, dropped, bucket):
    account.unneeded_datasets = [{"id": "v1/rows=10/seed=1", "bytes": 5}]
    make_dataset(context("dataset"))
    assert len(bucket.objects) == 4
    clean(context("clean"))
    assert {key.rpartition("/")[0] for key in bucket.objects} == {"datasets/v1/rows=20/seed=1"}
    assert bucket.gone == [manifest_key(10, 1), dataset_key(10, 1)], "where a manifest is, there is all of it"
    assert account.unneeded_datasets == []


def test_a_dataset_stays_recorded_where_s3_does_not_answer(cluster, account, bucket):
    account.unneeded_datasets = [{"id": "v1/rows=10/seed=1", "bytes": 5}]

    def away(**_):
        raise EndpointConnectionError(endpoint_url="http://s3")

    bucket.delete_object = away
    with pytest.raises(AirflowFailException, match="the dataset v1/rows=10/seed=1: S3 does not answer"):
        clean(context("clean"))
    assert len(account.unneeded_datasets) == 1


OF_AN_ATTEMPT = "results/storebench_mongodb_0123456789abcdef/read"


def test_cleaning_removes_results_that_no_operator_has_read(cluster, account, bucket):
    now = datetime.now(UTC)
    bucket.objects |= {
        f"{OF_AN_ATTEMPT}-1.json": LONG_AGO,
        f"{OF_AN_ATTEMPT}-2.json": now - timedelta(minutes=5),
        "others/read-1.json": LONG_AGO,
        "results/b/read-1.json": LONG_AGO,
        "results/storebench_report.pdf": LONG_AGO,
    }
    clean(context("clean"))
    assert bucket.gone == [f"{OF_AN_ATTEMPT}-1.json"], (
        "a young one may not be recorded yet, others are not ours"
    )


def test_cleaning_says_where_results_of_no_attempt_stay(cluster, account, bucket):
    bucket.objects[f"{OF_AN_ATTEMPT}-1.json"] = LONG_AGO

    def away(**_):
        raise EndpointConnectionError(endpoint_url="http://s3")

    bucket.delete_object = away
    with pytest.raises(AirflowFailException, match="results of no attempt: S3 does not answer"):
        clean(context("clean"))
