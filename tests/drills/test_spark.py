"""Deaths of Spark's pods, executors that Kubernetes refuses, and attempts to read Spark's encrypted traffic."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from kubernetes.client import CoreV1Api

from tests.e2e.harness import (
    EXECUTORS,
    NAMESPACE,
    administrator,
    delete,
    driver_with_executors,
    pods,
    run,
    soon,
)
from tests.e2e.spark_probe import answers_of_spark


@pytest.fixture
def background():
    with ThreadPoolExecutor(1) as pool:
        yield lambda *arguments: pool.submit(run, *arguments)


def test_executor_deleted(cluster, background, say):
    result = background("--stores", "delta-spark", "--axis", "batch=500", "--axis", "executors=2")
    driver, executors = soon(lambda: driver_with_executors(cluster))
    soon(lambda: "phase: operation" in cluster.read_namespaced_pod_log(driver, NAMESPACE))
    delete(cluster, executors[0].metadata.name)
    code, text, rows = result.result()
    assert code == 0, text
    assert [row["status"] for row in rows] == ["verified"] * 2
    written, read = sorted(rows, key=lambda row: row["operation"] == "read")
    assert written["disturbed"].startswith("lost 1 of 2 executors")
    assert "lost" not in (read["disturbed"] or "")
    soon(lambda: not pods(cluster, EXECUTORS))
    say(f"kubectl delete pod of an executor during a write: verified, and disturbed: {written['disturbed']}")


def test_driver_deleted(cluster, background, say):
    result = background("--stores", "delta-spark,null", "--axis", "batch=500", "--axis", "executors=1")
    delete(cluster, soon(lambda: driver_with_executors(cluster))[0])
    soon(lambda: not pods(cluster, EXECUTORS), 60)
    code, text, rows = result.result()
    assert code == 1, text
    found = {(row["store"], row["operation"]): row["error_kind"] or row["status"] for row in rows}
    assert found.pop(("delta-spark", "write")) in ("killed", "infrastructure")
    assert found == {
        ("delta-spark", "read"): "not_run",
        ("null", "write"): "verified",
        ("null", "read"): "verified",
    }
    say(
        "kubectl delete pod of a driver: its executors went with it, a failed row, and the next store was measured"
    )


def test_encryption_off(cluster, background, say):
    """The probe of the end-to-end tests is answered here: it would notice."""
    result = background(
        *("--stores", "delta-spark", "--axis", "batch=100", "--axis", "executors=1"),
        *("--param", "executor_encryption=false"),
    )
    answers = answers_of_spark(cluster)
    code, text, rows = result.result()
    assert code == 0, text
    assert [row["status"] for row in rows] == ["verified"] * 2
    assert not any(b"Unknown challenge" in answer for answer in answers), answers
    say("executor_encryption=false: Spark answers strangers, as the documentation says")


@pytest.fixture
def small_pods():
    """Forbid containers of more than 6 GiB in the namespace, as the cluster's administrator."""
    limits = [{"type": "Container", "max": {"memory": "6Gi"}}]
    with administrator() as client:
        core = CoreV1Api(client)
        core.create_namespaced_limit_range(
            NAMESPACE, {"metadata": {"name": "small"}, "spec": {"limits": limits}}
        )
        yield
        core.delete_namespaced_limit_range("small", NAMESPACE)


def test_executors_that_kubernetes_refuses(small_pods, say):
    began_s = time.monotonic()
    code, text, rows = run(
        *("--stores", "delta-spark", "--axis", "batch=all", "--axis", "executors=2"),
        *("--pod-memory", "4Gi", "--param", 'executor_memory="8g"', "--param", "startup_timeout_s=600"),
    )
    assert code == 1, text
    assert [row["error_kind"] for row in rows] == ["no_executors", "not_run"]
    assert 'Kubernetes refuses their pods: pods "' in rows[0]["error"]
    assert "maximum memory usage per Container is 6Gi, but limit is" in rows[0]["error"]
    assert time.monotonic() - began_s < 400, "nobody waits for executors that cannot come"
    say(f"a limit of the namespace refuses executors: {rows[0]['error'][:120]}")
