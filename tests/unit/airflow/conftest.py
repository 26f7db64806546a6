"""Operators with a cluster and a results database in memory."""

import threading
from types import SimpleNamespace

import pytest
import tenacity

from storebench import patience
from storebench.airflow import connections
from storebench.airflow.kubernetes import calls, pod_watch
from storebench.airflow.operators import attempts, pods
from tests.unit.airflow.account import MANIFEST, VERIFIED, Account, spec_of
from tests.unit.airflow.cluster import Cluster, ended
from tests.unit.example import STUDY


@pytest.fixture
def account(monkeypatch):
    monkeypatch.setenv("AIRFLOW_VAR_STOREBENCH_AIRFLOW_ID", "this")
    monkeypatch.setattr("storebench.study.studies.find", {STUDY.name: STUDY}.__getitem__)
    kept = Account()
    for name in ("repository", "queries", "leftovers"):
        monkeypatch.setattr(connections, name, lambda *_: kept)
    return kept


@pytest.fixture
def cluster(monkeypatch):
    found = Cluster(lambda pod: ended(message=VERIFIED.to_json()))
    hook = SimpleNamespace(
        core_v1_client=found,
        get_namespace=lambda: "ns",
        is_in_cluster=False,
        get_pod=found.read_namespaced_pod,
    )
    monkeypatch.setattr(pods.StorebenchPodOperator, "hook", hook)
    monkeypatch.setattr(
        "airflow.providers.cncf.kubernetes.hooks.kubernetes.KubernetesHook", lambda conn_id: hook
    )
    monkeypatch.setattr(patience, "LONGEST_WAIT_S", 0.01)
    monkeypatch.setattr(connections, "get", lambda name: SimpleNamespace(extra_dejson={}))
    monkeypatch.setattr(connections, "bucket", lambda: "storebench")
    monkeypatch.setattr(connections, "pod", lambda name: SimpleNamespace(to_json=lambda: "{}"))
    monkeypatch.setattr(pods, "image", lambda name: f"storebench/{name}:1")
    helper = "airflow.providers.cncf.kubernetes.kubernetes_helper_functions._default_wait"
    monkeypatch.setattr(helper, tenacity.wait_none())
    monkeypatch.setattr(calls, "LONGEST_WAIT_S", 0.01)
    monkeypatch.setattr(attempts.AttemptOperator, "kubernetes_version", lambda self: "v1")
    monkeypatch.setattr(pod_watch, "Watch", lambda: SimpleNamespace(stream=found.watched))
    return found


@pytest.fixture
def dropped(cluster):
    """Return the targets that pods have dropped. The dataset's pod returns its manifest."""
    found = []

    def end(pod):
        spec = spec_of(pod)
        if spec is None:
            return ended(message=MANIFEST)
        if spec.operation == "drop":
            found.append(spec.target)
        return ended(message=VERIFIED.to_json())

    cluster.end = end
    return found


@pytest.fixture
def die(cluster, account, monkeypatch):
    """Run a step whose process dies at this call of the cluster, or as it begins to record its row. Nothing of the process runs after
    that, as after kill -9.
    """

    def begin(at, operator, given, where=cluster):
        dead, never = threading.Event(), threading.Event()

        def stop():
            if threading.current_thread() is process:
                dead.set()
                never.wait()

        add = account.add_attempt

        def record(*arguments, **others):
            if at == "record":
                stop()
            add(*arguments, **others)

        monkeypatch.setattr(account, "add_attempt", record)
        where.fails = lambda call, before: stop() if call == at else None
        process = threading.Thread(target=operator.execute, args=(given,), daemon=True)
        process.start()
        assert dead.wait(20), f"the process has not come to {at}"

    return begin
