"""The end of a pod, which Kubernetes reports first for the containers and a second later for the pod."""

from types import SimpleNamespace

import pytest
from kubernetes.client import models as k8s

from storebench.airflow.compat import pod_manager
from storebench.airflow.compat.pod_manager import PromptPodManager, with_final_phase


def pod(phase, *exit_codes):
    """Return a pod with a container for each exit code. None: the container runs."""
    names = [f"container-{number}" for number in range(len(exit_codes))]
    states = [
        k8s.V1ContainerState(
            terminated=None if code is None else k8s.V1ContainerStateTerminated(exit_code=code)
        )
        for code in exit_codes
    ]
    statuses = [
        k8s.V1ContainerStatus(image="", image_id="", name=name, ready=False, restart_count=0, state=state)
        for name, state in zip(names, states, strict=True)
    ]
    return k8s.V1Pod(
        metadata=k8s.V1ObjectMeta(name="pod", namespace="namespace"),
        spec=k8s.V1PodSpec(containers=[k8s.V1Container(name=name) for name in names]),
        status=k8s.V1PodStatus(phase=phase, container_statuses=statuses),
    )


@pytest.fixture
def end(monkeypatch):
    """Wait for the end of a pod that has these states one after another. Return the last state, and the number of states read."""
    monkeypatch.setattr(pod_manager, "POLL_INTERVAL_S", 0.0)

    def wait(*states):
        read = []

        def answer(**_):
            read.append(states[min(len(read), len(states) - 1)])
            return read[-1]

        manager = PromptPodManager(SimpleNamespace(read_namespaced_pod=lambda *_, **__: answer()))
        return manager.await_pod_completion(pod("Pending")), len(read)

    return wait


def test_a_pod_whose_containers_have_succeeded_has_ended(end):
    last, reads = end(pod("Running", None), pod("Running", 0), pod("Succeeded", 0))
    assert (last.status.phase, reads) == ("Succeeded", 2)


@pytest.mark.parametrize(
    ("exit_codes", "phase"), [((0,), "Succeeded"), ((0, None), "Running"), ((137,), "Running")]
)
def test_only_a_pod_whose_containers_have_all_succeeded_gets_its_final_phase(exit_codes, phase):
    assert with_final_phase(pod("Running", *exit_codes)).status.phase == phase


def test_a_pod_is_waited_for_until_each_container_has_ended(end):
    last, _ = end(pod("Running", 0, None), pod("Running", 0, 0))
    assert last.status.container_statuses[1].state.terminated.exit_code == 0


def test_a_failed_pod_is_waited_for_until_its_phase_is_known(end):
    last, _ = end(pod("Running", None), pod("Running", 137), pod("Failed", 137))
    assert last.status.phase == "Failed"
