"""Follow the states of a pod while it runs, because Kubernetes removes the pod of a drained node as soon as its program has ended."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread

from kubernetes.client import CoreV1Api
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException
from kubernetes.watch import Watch
from urllib3.exceptions import HTTPError

WITHIN_S = 3.0  # seconds in which Kubernetes tells of the removal of a pod


class PodWatch:
    """A thread that keeps the newest state of a pod. Begins at once, and ends with the pod's removal."""

    def __init__(self, client: CoreV1Api, pod: k8s.V1Pod) -> None:
        self._api, self._pod, self._newest = client, pod, pod
        self._thread = Thread(target=self._follow, name="pod-watch", daemon=True)
        self._thread.start()

    def last_state(self) -> k8s.V1Pod:
        """Return the last state of a pod that Kubernetes has removed; the newest known state if the connection was lost."""
        self._thread.join(WITHIN_S)
        return self._newest

    def _follow(self) -> None:
        name, namespace = self._pod.metadata.name, self._pod.metadata.namespace
        with suppress(ApiException, HTTPError):  # then the row of an evicted pod lacks the reason
            for event in Watch().stream(
                self._api.list_namespaced_pod, namespace, field_selector=f"metadata.name={name}"
            ):
                self._newest = event["object"]
                if event["type"] == "DELETED":
                    return
