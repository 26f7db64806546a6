"""Runs through the real Airflow and Kubernetes of a running stack: `make e2e` starts it."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from pymongo import MongoClient

from bench.variant import used
from storebench.airflow.kubernetes.placement import LABEL
from storebench.connection import Connection
from storebench.results.database.queries import Queries
from storebench.stores.bulk_write_read.mongodb import uri
from tests.bulk import RANKED_BY
from tests.e2e.harness import collections, finished_one_by_one, pods, run, soon, storebench


def test_a_run_leaves_a_verified_row_for_each_operation_of_each_cell():
    code, text, rows = run("--stores", "mongodb,null", "--axis", "batch=500,all")
    assert code == 0, text
    assert finished_one_by_one(rows) == {
        ("mongodb", "500", 1),
        ("mongodb", "all", 1),
        ("null", "500", 1),
        ("null", "all", 1),
    }
    assert "8 of 8 operations are verified" in text and "times the best" in text and "Next:" in text
    assert {row["status"] for row in rows} == {"verified"}
    for row in rows:
        assert (row["metric"], row["unit"]) == (RANKED_BY[row["operation"]], "s")
        assert 0 <= row["value"] < row["total_s"]
        assert row["memory_working_set_peak_bytes"] <= row["memory_peak_bytes"] <= row["memory_limit_bytes"]
        assert row["environment_hash"] and row["node"] and row["pod"] and row["dataset_bytes"]
        assert row["parameters"] == {"pod_cpu": "500m", "cpu_limit": False, "pod_memory": "8Gi"}
        assert row["code_version"].startswith("1.0.0+")
        assert row["node_others_cores"] is not None and row["node_steal_share"] is not None
    assert {row["server_name"] for row in rows} <= {"FerretDB", "MongoDB", "null"}
    marks = {(row["store"], row["figures_cover"], row["client_cores_usable"]) for row in rows}
    assert marks == {("mongodb", "client", 1), ("null", "engine", None)}
    assert all((row["client_bound"] is None) == (row["store"] == "null") for row in rows)
    guarantees = {(row["store"], row["operation"], row["durability"]) for row in rows}
    assert guarantees == {
        ("mongodb", "write", "disk"),
        ("null", "write", "none"),
        *((store, "read", None) for store in ("mongodb", "null")),
    }


def test_a_cpu_limit_is_what_a_client_can_use_and_kept_data_has_the_name_in_the_results(
    cluster, collections_before
):
    """A limit is guaranteed to the pod, and no disturbance."""
    with ThreadPoolExecutor(1) as pool:
        limited = ("--param", 'pod_cpu="500m"', "--param", "cpu_limit=true")
        result = pool.submit(run, *("--axis", "batch=all", *limited, "--keep-data"))
        soon(lambda: [pod for pod in pods(cluster, LABEL) if pod.status.qos_class == "Guaranteed"])
        code, text, rows = result.result()
    assert code == 0, text
    assert all(row["throttled_periods"] > 0 and row["client_cores_usable"] == 0.5 for row in rows)
    assert not any("throttled" in (row["disturbed"] or "") for row in rows)
    (target,) = {row["target"] for row in rows}
    server = Connection.from_json("mongodb", os.environ["AIRFLOW_CONN_STOREBENCH_MONGODB"])
    with MongoClient(uri(server)) as client:
        collection = client[server.schema][target]
        try:
            assert collection.count_documents({}) == 2000
        finally:
            collection.drop()
    assert collections() <= collections_before, "every other run has dropped its collections"


def test_delta_without_spark_is_verified():
    """The reference clients are in integration/test_delta_rs.py and test_delta_reader.py, Elasticsearch in test_secrets.py."""
    code, text, rows = run(
        *("--stores", "delta-rs,delta-kernel", "--clients", "tuned", "--axis", "batch=500")
    )
    assert code == 0, text
    assert {(row["store"], row["operation"], row["status"]) for row in rows} == {
        *(("delta-rs", operation, "verified") for operation in ("write", "read")),
        ("delta-kernel", "read", "verified"),
    }
    delivered = {row["store"]: row["delivers"] for row in rows if row["operation"] == "read"}
    assert delivered["delta-kernel"] == "columnar vectors"
    assert {row["durability"] for row in rows if row["operation"] == "write"} == {"s3"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--stores", "oracle"], "Unknown store 'oracle'"),
        (["--axis", "batch=0"], "Batch: '0' is not a number of rows from 1, or 'all'"),
        (["--axis", "size=1"], "Unknown axis 'size'"),
        (["--axis", "batch"], "'batch' is not AXIS=VALUE,VALUE"),
        (["--seed", "-1"], "Seed: -1 is not a whole number from 0"),
        (["--param", "pod_memory=1"], "Memory of a pod: 1 is not an amount of memory"),
        (["--param", "rowz=1"], "Unknown parameter 'rowz'. Did you mean rows?"),
        (["--param", "rows={"], "is not NAME=JSON"),
    ],
)
def test_a_bad_value_is_refused_before_anything_runs(arguments, words):
    code, text, rows = run(*arguments)
    assert code != 0 and rows == []
    assert words in text


def test_rows_over_what_the_disk_holds_are_refused_by_the_plan():
    code, text, rows = run("--rows", "1000000000")
    assert code != 0 and "plan: failed" in text and "This dataset needs about" in text
    assert rows == []
    refused = Queries(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]).runs(1)[0]
    assert refused["state"] == "refused" and "This dataset needs about" in refused["reason"]


def test_a_pod_that_runs_out_of_memory_is_a_row_and_the_others_go_on():
    code, text, rows = run("--axis", "batch=all,1000", "--pod-memory", "200Mi", "--rows", "100000")
    assert code == 1, text
    found = {(row["axes"]["batch"], row["operation"]): row["error_kind"] or row["status"] for row in rows}
    assert found == {
        ("all", "write"): "oom_killed",
        ("all", "read"): "not_run",
        ("1000", "write"): "verified",
        ("1000", "read"): "verified",
    }
    assert "limit of 200Mi: raise the parameter pod_memory" in text


def test_a_pod_that_no_node_can_take_is_a_row():
    code, text, rows = run("--axis", "batch=all", "--pod-memory", "900Ti", "--param", "startup_timeout_s=5")
    assert code == 1, text
    assert [row["error_kind"] for row in rows] == ["unschedulable", "not_run"]


def cleared(airflow, run_id, *steps):
    """Clear these steps of the run's only cell, wait for its end, and return its rows."""
    tasks = [*(["cell." + step, 0] for step in steps), "aggregate"]
    body = {"dry_run": False, "dag_run_id": run_id, "task_ids": tasks, "only_failed": False}
    airflow.call("POST", "/api/v2/dags/bulk_write_read/clearTaskInstances", json=body)
    airflow.wait("bulk_write_read", run_id, print)
    rows = json.loads(storebench("results", "--run", run_id, "--format", "json").stdout)
    return [(row["operation"], row["try_number"], row["status"]) for row in rows], rows[-1]["error"]


def test_a_cell_that_is_cleared_after_the_runs_end_is_measured_again_and_a_read_alone_keeps_its_result(
    airflow,
):
    code, text, rows = run("--axis", "batch=500")
    assert code == 0, text
    first = [("write", 1, "verified"), ("read", 1, "verified")]
    found, error = cleared(airflow, rows[0]["run"], "read")
    assert found == [*first, ("read", 0, "not_run")]
    assert "clear all steps of the cell together" in error
    found, _ = cleared(airflow, rows[0]["run"], "write", "read", "drop")
    assert sorted(found) == sorted(
        [*first, ("read", 0, "not_run"), ("write", 2, "verified"), ("read", 3, "verified")]
    )


@pytest.fixture
def missing_image(airflow):
    """Name an image that is nowhere, for this test."""
    with used(airflow, "localhost/storebench/python:missing"):
        yield


def test_an_image_that_is_missing_is_named_and_every_operation_has_its_row(missing_image):
    code, text, rows = run("--axis", "batch=all")
    assert code == 1, text
    reason = "The dataset was not made: image: The pod cannot start: ErrImage"
    assert reason in text
    assert [(row["operation"], row["status"]) for row in rows] == [("write", "not_run"), ("read", "not_run")]
    assert all(row["error"].startswith(reason) for row in rows)
