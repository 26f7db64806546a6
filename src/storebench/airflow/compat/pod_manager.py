"""Define a pod manager that notices the end of pods promptly.

Written for apache-airflow-providers-cncf-kubernetes 10.25.0.

Remove `container_is_running` and `await_pod_completion` when the provider's operator has arguments for its waiting times; `read_pod` when
the provider repeats a request that the API server refuses for a while; `_log_message` when the provider can limit the length of a log.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from airflow.providers.cncf.kubernetes.utils.container import container_is_completed
from airflow.providers.cncf.kubernetes.utils.pod_manager import PodManager, PodPhase
from kubernetes.client import models as k8s

from storebench.airflow.kubernetes.calls import ENDED_PHASES, RIGHTS, ask_again

POLL_INTERVAL_S = 0.1
SOON_S = 3.0  # seconds to wait until Kubernetes reports an end that has happened
LOG_CHARACTERS = 10_000_000  # a program that runs wild must not fill the volume of Airflow's logs


def have_succeeded(pod: k8s.V1Pod) -> bool:
    """Return whether all containers of the pod have ended with the exit code 0."""
    statuses = pod.status.container_statuses or []
    ends = [status.state.terminated for status in statuses if status.state.terminated]
    return len(ends) == len(pod.spec.containers) and all(end.exit_code == 0 for end in ends)


def with_final_phase(pod: k8s.V1Pod) -> k8s.V1Pod:
    """Return a pod whose containers have all succeeded with the phase `Succeeded`, which Kubernetes reports a second later."""
    if have_succeeded(pod):
        pod.status.phase = PodPhase.SUCCEEDED
    return pod


class PromptPodManager(PodManager):
    """A pod manager that notices the end of a pod within POLL_INTERVAL_S seconds.

    The provider's manager polls every 1 to 2 s, which is as long as a short attempt. With this manager, a short outage of the API server
    does not lose the pod's work. The task's log has the first LOG_CHARACTERS of the pod's log.
    """

    logged = 0  # characters of the pod's log

    def _log_message(self, message: str, *args: Any, **kwargs: Any) -> None:
        before, self.logged = self.logged, self.logged + len(message)
        if before > LOG_CHARACTERS:
            return
        super()._log_message(message[: LOG_CHARACTERS - before], *args, **kwargs)
        if self.logged > LOG_CHARACTERS:
            self.log.warning(
                "The pod's log has more than %s characters: the remainder is excluded", LOG_CHARACTERS
            )

    def read_pod(self, pod: k8s.V1Pod) -> k8s.V1Pod:
        return ask_again(lambda: super(PromptPodManager, self).read_pod(pod), RIGHTS)

    def container_is_running(self, pod: k8s.V1Pod, container_name: str) -> bool:
        """Return whether the container runs. Called when the container's log has ended: Kubernetes reports the end a moment later."""
        return not self._soon(
            lambda: not super(PromptPodManager, self).container_is_running(pod, container_name)
        )

    def await_pod_completion(
        self,
        pod: k8s.V1Pod,
        istio_enabled: bool = False,
        container_name: str = "base",
        *args: Any,
        **kwargs: Any,
    ) -> k8s.V1Pod:
        """Wait for the pod's end. With sidecars (`istio_enabled`), wait only for the container's end.

        A pod whose containers have all succeeded has ended: Kubernetes changes the pod's phase a second later. Such a pod is returned with
        the phase that it will have. The reason of a failure may be in the pod's last state only, so a failed pod is waited for.
        """
        read: list[k8s.V1Pod] = []

        def ended() -> bool:
            current = self.read_pod(pod)
            read.append(current)
            container_ended = istio_enabled and container_is_completed(current, container_name)
            return container_ended or current.status.phase in ENDED_PHASES or have_succeeded(current)

        if self._soon(ended) and have_succeeded(read[-1]):
            return with_final_phase(read[-1])
        return super().await_pod_completion(pod, istio_enabled, container_name, *args, **kwargs)

    @staticmethod
    def _soon(ended: Callable[[], bool]) -> bool:
        deadline_s = time.monotonic() + SOON_S
        while not (has_ended := ended()) and time.monotonic() < deadline_s:
            time.sleep(POLL_INTERVAL_S)
        return has_ended
