"""A node that is drained in the middle of a run. The stack needs three nodes: `STOREBENCH_NODES=3 make up`."""

from contextlib import contextmanager

import pytest
from kubernetes import client as k8s

from local.stack.nodes import MARK
from local.stack.settings import Settings
from tests.e2e.harness import NAMESPACE, administrator, driver_with_executors, soon


@pytest.fixture
def admin():
    """Yield the cluster's API as its administrator: Airflow's account may neither change nodes nor evict pods."""
    with administrator() as client:
        yield k8s.CoreV1Api(client)


@pytest.fixture
def one_pool(admin):
    """Put all nodes into the default pool, whose label and taint the first node has, and restore their own pools afterwards."""
    marks = {node.name: node.mark for node in Settings().nodes}
    if len(marks) < 3:
        pytest.skip("the stack has fewer than three nodes: STOREBENCH_NODES=3 make up")

    def mark(values):
        for name, value in values.items():
            taint = {"key": MARK, "value": value, "effect": "NoSchedule"}
            admin.patch_node(name, {"metadata": {"labels": {MARK: value}}, "spec": {"taints": [taint]}})

    mark(dict.fromkeys(marks, "true"))
    yield
    mark(marks)


@contextmanager
def drained(admin, node):
    """Drain a node as `kubectl drain` does during the block: accept no pod, and evict the benchmark's pods."""
    admin.patch_node(node, {"spec": {"unschedulable": True}})
    try:
        for pod in admin.list_namespaced_pod(NAMESPACE, field_selector=f"spec.nodeName={node}").items:
            body = k8s.V1Eviction(metadata=k8s.V1ObjectMeta(name=pod.metadata.name))
            admin.create_namespaced_pod_eviction(pod.metadata.name, NAMESPACE, body)
        yield
    finally:
        admin.patch_node(node, {"spec": {"unschedulable": False}})


def test_node_drained(drill, one_pool, admin):
    run = drill()
    pod = run.working("write")
    with drained(admin, pod.spec.node_name):
        soon(lambda: len(run.rows()) == 4, 600)
    (evicted,) = [row for row in run.rows() if row["pod"] == pod.metadata.name]
    assert "EvictionByEvictionAPI" in evicted["error"], evicted
    elsewhere = {row["node"] for row in run.rows() if row["status"] == "verified"}
    assert elsewhere and pod.spec.node_name not in elsewhere
    run.must_end("a node drained during a write", "failed")


def test_executors_run_beside_the_driver(drill, one_pool, cluster, say):
    """Spark's executors get other nodes than the driver, and a node each."""
    run = drill("delta-spark", rows=20_000, batch=["all"], executors=["2"])
    driver = run.working("write")
    _, executors = soon(lambda: driver_with_executors(cluster, least=2), 120)
    nodes = {driver.spec.node_name, *(pod.spec.node_name for pod in executors)}
    assert len(nodes) == 3, nodes
    assert run.end() == "success", run.rows()
    say("three nodes: the driver and its two executors each had a node")
