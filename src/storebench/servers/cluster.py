"""Make a set of servers on a cluster, wait until the servers are ready, and remove them."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, TypeVar

from kubernetes import client as k8s_client
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from storebench.errors import ServersFailed, SpecError
from storebench.servers.pods import Trouble, answer, is_ready, seen, trouble, unscheduled
from storebench.servers.render import LABEL, MANAGED, TOKEN_KEY, access_name, policy_of
from storebench.servers.topology import KINDS, PASSWORD_KEY, Object

POLL_INTERVAL_S = 1.0
GONE_WITHIN_S = 300.0
LOG_LINES, LOG_CHARACTERS = 20, 1500
NO_LOG = "unable to retrieve container logs"  # the kubelet's answer for a container that is gone
WARNINGS = 3
GRACE_S = 1  # for pods to end: their data is not needed any more

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """The limits of a start of servers, in seconds: until each server has a node, and until all servers are ready."""

    node_s: float
    ready_s: float


class ServerCluster:
    """The servers in a namespace of a cluster. `ask` repeats calls of the API that fail for a while."""

    def __init__(
        self, core: k8s_client.CoreV1Api, namespace: str, ask: Callable[[Callable[[], Any]], Any]
    ) -> None:
        self.core = core
        self.apps = k8s_client.AppsV1Api(core.api_client)
        self.networking = k8s_client.NetworkingV1Api(core.api_client)
        self.namespace = namespace
        self._ask = ask

    def make(self, set_id: str, objects: Sequence[Object]) -> None:
        """Create the servers' NetworkPolicy, their Secret, and these objects. An object of the set that exists stays as it is."""
        self._create(self.networking.create_namespaced_network_policy, policy_of(set_id))
        self._create(self.core.create_namespaced_secret, _secret_of(set_id))
        for kind in KINDS:
            for item in objects:
                if item["kind"] == kind:
                    self._create(self._creators()[kind], item)

    def wait(
        self, set_id: str, copies: int, limits: Limits, go_on: Callable[[], None]
    ) -> dict[str, list[object]]:
        """Wait until this number of pods is ready. Returns storebench.servers.pods.seen. `go_on` is called while waiting, and may raise.

        Raises ServersFailed with the known reasons where a server cannot start, or does not start in time.
        """
        began_s = time.monotonic()
        while True:
            pods = self.pods(set_id)
            if sum(map(is_ready, pods)) >= copies:
                return seen(pods)
            if problem := trouble(pods):
                raise ServersFailed(
                    f"The server {problem.pod} does not start: {problem.reason}{self._log(problem)}"
                )
            waited_s = time.monotonic() - began_s
            lacking = unscheduled(pods) if pods else "Kubernetes has made none of the servers' pods"
            if lacking and waited_s > limits.node_s:
                raise ServersFailed(f"{lacking}. It waited {limits.node_s:.0f} s{self._warnings(set_id)}")
            if waited_s > limits.ready_s:
                raise ServersFailed(self._late(set_id, pods, copies, limits.ready_s))
            go_on()
            time.sleep(POLL_INTERVAL_S)

    def pods(self, set_id: str) -> list[k8s.V1Pod]:
        """Return the pods of a set of servers."""
        pods: list[k8s.V1Pod] = self._ask(
            lambda: self.core.list_namespaced_pod(self.namespace, label_selector=f"{LABEL}={set_id}")
        ).items
        return pods

    def remove(self, set_id: str) -> None:
        """Remove all objects of the set with its data, and wait until the objects are gone. The NetworkPolicy is the last. A set without
        objects is no error.

        Raises ServersFailed if an object exists after GONE_WITHIN_S seconds.
        """
        self._delete(self.core.delete_namespaced_secret, access_name(set_id))
        deadline_s = time.monotonic() + GONE_WITHIN_S
        while remaining := list(self._delete_all(set_id)):
            if time.monotonic() > deadline_s:
                raise ServersFailed(
                    f"Still there {GONE_WITHIN_S:.0f} s after the removal of servers: {', '.join(remaining)}. Does the node answer?"
                )
            time.sleep(POLL_INTERVAL_S)
        self._delete(self.networking.delete_namespaced_network_policy, access_name(set_id))

    def _delete_all(self, set_id: str) -> Iterator[str]:
        """Ask for the removal of each remaining object, and yield its name. Pods follow StatefulSets, which would make them again."""
        core, selector = self.core, f"{LABEL}={set_id}"
        lists_and_deletes: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [
            ("StatefulSet", self.apps.list_namespaced_stateful_set, self.apps.delete_namespaced_stateful_set),
            ("pod", core.list_namespaced_pod, core.delete_namespaced_pod),
            ("Service", core.list_namespaced_service, core.delete_namespaced_service),
            ("ConfigMap", core.list_namespaced_config_map, core.delete_namespaced_config_map),
            (
                "volume claim",
                core.list_namespaced_persistent_volume_claim,
                core.delete_namespaced_persistent_volume_claim,
            ),
        ]
        for kind, listed, delete in lists_and_deletes:
            items = self._ask(lambda listed=listed: listed(self.namespace, label_selector=selector)).items  # type: ignore[misc]
            for item in items:
                more = {"grace_period_seconds": GRACE_S} if kind == "pod" else {}
                self._delete(delete, item.metadata.name, **more)
                yield f"{kind} {item.metadata.name}"

    def _creators(self) -> dict[str, Callable[..., Any]]:
        return {
            "ConfigMap": self.core.create_namespaced_config_map,
            "Service": self.core.create_namespaced_service,
            "StatefulSet": self.apps.create_namespaced_stateful_set,
        }

    def _create(self, create: Callable[..., Any], body: Object) -> None:
        try:
            self._ask(lambda: create(self.namespace, body))
        except ApiException as error:
            if error.status == 409:  # an earlier call, whose answer was lost, has created the object
                return
            what = f"{body['kind']} {body['metadata']['name']}"
            if error.status == 403:
                raise SpecError(
                    f"Kubernetes refused the {what} in the namespace {self.namespace!r}: {answer(error)}. If the account has no"
                    " right to make it, give the connection's account the rights that deploy/kubernetes has"
                ) from error
            raise ServersFailed(f"Kubernetes refused the {what}: {answer(error)}") from error

    def _delete(self, delete: Callable[..., Any], name: str, **more: Any) -> None:
        try:
            self._ask(lambda: delete(name, self.namespace, **more))
        except ApiException as error:
            if error.status != 404:
                raise

    def _late(self, set_id: str, pods: Sequence[k8s.V1Pod], copies: int, limit_s: float) -> str:
        ready = [pod for pod in pods if is_ready(pod)]
        late = [pod.metadata.name for pod in pods if pod not in ready]
        state = f"{len(ready)} of {copies} servers are ready after {limit_s:.0f} s"
        if not late:
            return f"{state}: Kubernetes has made no more of them{self._warnings(set_id)}"
        return f"{state}, {', '.join(late)} not{self._warnings(set_id)}{self._log(Trouble(late[0], ''))}"

    def _warnings(self, set_id: str) -> str:
        """Return Kubernetes' last warnings about the servers."""
        try:
            events = self._ask(
                lambda: self.core.list_namespaced_event(self.namespace, field_selector="type=Warning")
            ).items
        except ApiException:
            return ""
        of_set = [event for event in events if set_id in (event.involved_object.name or "")]
        lines = dict.fromkeys(
            f"{event.involved_object.name}: {event.message}" for event in of_set[-WARNINGS:]
        )
        return f". Kubernetes says: {'; '.join(lines)}" if lines else ""

    def _log(self, problem: Trouble) -> str:
        """Return the end of the server's log: the log of the ended container where the server was restarted."""
        for previous in (True, False) if problem.container else (False, True):
            try:
                answer = self._ask(
                    lambda previous=previous: self.core.read_namespaced_pod_log(  # type: ignore[misc]
                        problem.pod,
                        self.namespace,
                        tail_lines=LOG_LINES,
                        previous=previous,
                        _preload_content=False,  # the client would return a Python literal of the bytes
                        **({"container": problem.container} if problem.container else {}),
                    )
                )
            except ApiException:  # the log does not exist, or no longer
                continue
            # The log of a container that has not begun is empty.
            log = (answer.data or b"").decode(errors="replace").strip()
            if log and not log.startswith(NO_LOG):
                return f". The end of its log:\n{log[-LOG_CHARACTERS:]}"
        return ""


def _secret_of(set_id: str) -> Object:
    """Make a Secret with a random token for the agents, and a random password for servers that have a login."""
    values = {key: base64.b64encode(token_hex(32).encode()).decode() for key in (TOKEN_KEY, PASSWORD_KEY)}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": access_name(set_id), "labels": {**MANAGED, LABEL: set_id}},
        "data": values,
    }
