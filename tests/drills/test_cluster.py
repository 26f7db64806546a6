"""Failures of pods and of their node's parts."""

from tests.drills.drill import kill
from tests.e2e.harness import delete


def test_pod_deleted(drill):
    run = drill()
    delete(run.cluster, run.working("write").metadata.name)
    run.must_end("kubectl delete pod during a write", "failed")


def test_containerd_killed(drill):
    run = drill()
    run.working("write")
    kill("containerd")
    run.must_end("containerd restarted during a write", "success", "failed")


def test_too_little_memory(drill):
    run = drill(batch=["1000", "all"], pod_memory="200Mi")
    run.must_end("a pod ended for want of memory", "failed", repair={"pod_memory": "4Gi"})
