"""An operation that several pods do together: one verified row, a part that dies, and nothing of them that stays."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from kubernetes import client

from storebench.airflow.kubernetes.parts import JOB_OF_POD
from tests.e2e.harness import NAMESPACE, administrator, delete, pods, run, soon

# Two pods at a time on one machine
SMALL = ("--param", 'pod_cpu="200m"', "--param", 'pod_memory="1Gi"')
TWO = ("--stores", "null", "--axis", "batch=500", "--axis", "pods=2", *SMALL)


@pytest.fixture(autouse=True)
def nothing_stays():
    """Fail a test that leaves Jobs, their pods, or Secrets with keys of parts."""
    yield

    def left(api_client):
        core = client.CoreV1Api(api_client)
        jobs = client.BatchV1Api(api_client).list_namespaced_job(NAMESPACE).items
        secrets = core.list_namespaced_secret(NAMESPACE).items
        names = [item.metadata.name for item in (*jobs, *secrets)]
        names = [name for name in names if name.startswith(("part-", "storebench-parts-key-"))]
        left_pods = core.list_namespaced_pod(NAMESPACE, label_selector=JOB_OF_POD).items
        return names + [pod.metadata.name for pod in left_pods]

    with administrator() as api_client:
        soon(lambda: not left(api_client), seconds=60)


def is_of_dataset(pod):
    """Return whether the pod makes a dataset."""
    return "STOREBENCH_DATASET" in {variable.name for variable in pod.spec.containers[0].env}


def test_two_pods_do_an_operation_and_it_is_one_verified_row(cluster):
    """Two pods also make the dataset: its rows are two parts of the upload, and no earlier run has its seed."""
    seed = str(time.time_ns() % 2**53)
    made = ("--param", "dataset_pods=2", "--rows", "40000", "--seed", seed)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run, *TWO, *made)
        soon(lambda: [pod for pod in pods(cluster, JOB_OF_POD) if is_of_dataset(pod)])
        code, text, rows = result.result()
    assert code == 0, text
    assert {(row["operation"], row["status"]) for row in rows} == {
        ("write", "verified"),
        ("read", "verified"),
    }
    for row in rows:
        assert row["cell_key"].count("/pods=2/") == 1 and row["axes"]["pods"] == "2"
        assert row["client_pods"] == 2 and row["start_skew_s"] >= 0


def test_a_part_that_dies_fails_the_attempt_by_its_name(cluster):
    """The dataset is large enough that the part is killed while it works."""
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run, *TWO, "--rows", "200000")
        (part,) = soon(lambda: [pod for pod in pods(cluster, JOB_OF_POD) if pod.status.phase == "Running"])
        delete(cluster, part.metadata.name)
        code, _, rows = result.result()
    assert code != 0
    (failed,) = [row for row in rows if row["status"] == "failed"]
    assert part.metadata.name in failed["error"], failed["error"]


def test_a_part_that_no_node_can_take_is_named_with_the_reason():
    """A node of two cores takes one pod of 1.1 cores."""
    large = ("--param", 'pod_cpu="1100m"', "--param", 'pod_memory="1Gi"', "--param", "startup_timeout_s=15")
    code, text, rows = run("--stores", "null", "--axis", "batch=500", "--axis", "pods=2", *large)
    assert code != 0, text
    errors = [row["error"] for row in rows if row["status"] == "failed"]
    assert any("No node can take the pod" in error and "art 1" in error for error in errors), errors
    assert "unschedulable" in {row["error_kind"] for row in rows}
