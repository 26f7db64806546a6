"""A running stack, its cluster, and single attempts in pods of their own."""

import json
import os
import time
import uuid

import pytest
from kubernetes import client, config

from storebench.airflow.outcome.retrieve import full_result
from storebench.attempt.result import AttemptResult
from storebench.cli.airflow_api import Airflow
from storebench.connection import Connection
from storebench.s3 import client_for
from storebench.study.cell import Cell
from tests.bulk import bulk_study, spec_for
from tests.e2e.browser import chromium, token, url, visit
from tests.e2e.harness import BUCKET, NAMESPACE, ROWS, S3_SECRET, SEED, collections, pod, storebench

__all__ = ["chromium", "token", "url", "visit"]


@pytest.fixture(scope="session", autouse=True)
def stack():
    for name in ("STOREBENCH_AIRFLOW_URL", "AIRFLOW_CONN_STOREBENCH_RESULTS", "KUBECONFIG"):
        if name not in os.environ:
            pytest.fail(f"{name} is not set: run these tests with `make e2e`")


@pytest.fixture(scope="session", autouse=True)
def collections_before(stack):
    """Return the names of the MongoDB collections from before the tests."""
    return collections()


@pytest.fixture(scope="session")
def airflow(url):
    return Airflow(url, os.environ["STOREBENCH_AIRFLOW_USER"], os.environ["STOREBENCH_AIRFLOW_PASSWORD"])


@pytest.fixture(scope="session")
def runs(airflow):
    """Return the ids of a run of two stores with three repeats, and of a run with a single repeat. The page's tests share the runs.

    A run with a disturbed attempt is repeated: comparisons exclude such attempts, and the machine may have other work.
    """
    return [f"bulk_write_read/{undisturbed_run(airflow, repeats)}" for repeats in (3, 1)]


def undisturbed_run(airflow, repeats, tries=3):
    """Run null and mongodb with these repeats, until no other work on the node has disturbed a run. Return the last run's id in Airflow."""
    conf = {
        "rows": ROWS,
        "seed": SEED,
        "stores": ["null", "mongodb"],
        "clients": ["reference"],
        "batch": ["500"],
        "repeats": repeats,
    }
    for _ in range(tries):
        run = airflow.trigger("bulk_write_read", conf)
        assert airflow.wait("bulk_write_read", run, print) == "success"
        rows = json.loads(storebench("results", "--run", run, "--format", "json").stdout)
        if not any(row["disturbed"] for row in rows):
            break
    return run


@pytest.fixture(scope="session")
def cluster():
    config.load_kube_config(os.environ["KUBECONFIG"])
    return client.CoreV1Api()


@pytest.fixture
def s3_secret(cluster):
    """Yield the S3 connection, for pods that no run starts."""
    connection = os.environ["AIRFLOW_CONN_STOREBENCH_S3"]
    cluster.create_namespaced_secret(
        NAMESPACE, {"metadata": {"name": S3_SECRET}, "stringData": {"connection": connection}}
    )
    yield
    cluster.delete_namespaced_secret(S3_SECRET, NAMESPACE)


@pytest.fixture
def attempt_in_pod(cluster, s3_secret):
    """Run one attempt of a cell on the data kept as `target`, in a pod like the DAG's; returns its exit code and result.

    `program` is Python that is run in the place of `storebench attempt`; `user` is the number of the user that the pod runs as.
    """

    def attempt(operation, cell_key, target, program=None, user=None, **options):
        cell = Cell.from_key(cell_key)
        spec = spec_for(operation, cell, target, BUCKET, **options)
        folder = bulk_study().store(cell.store).pod_of(operation).image
        name, image = f"test-{uuid.uuid4().hex[:12]}", os.environ[f"STOREBENCH_IMAGE_{folder.upper()}"]
        cluster.create_namespaced_pod(NAMESPACE, pod(name, image, spec, program, user))
        try:
            while not (status := cluster.read_namespaced_pod(name, NAMESPACE).status).phase in (
                "Succeeded",
                "Failed",
            ):
                time.sleep(0.5)
            ended = status.container_statuses[0].state.terminated
            result = AttemptResult.from_json(ended.message)
            s3 = Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"])
            return ended.exit_code, full_result(result, spec, lambda: client_for(s3))
        finally:
            cluster.delete_namespaced_pod(name, NAMESPACE, grace_period_seconds=0)

    return attempt
