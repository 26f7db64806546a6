"""Makes a set of servers on a cluster, waits until they are ready, and removes them."""

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
from storebench.servers.pods import Trouble, is_ready, seen, trouble, unscheduled
from storebench.servers.render import LABEL, MANAGED, TOKEN_KEY, secret_of
from storebench.servers.topology import KINDS, Object

POLL_INTERVAL_S = 1.0
GONE_WITHIN_S = 300.0
LOG_LINES, LOG_CHARACTERS = 20, 1500
NO_LOG = "unable to retrieve container logs"  # the kubelet's answer for a container that is gone
WARNINGS = 3
GRACE_S = 1  # nothing that they hold is needed any more

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """How long servers may take, in seconds: to get a node each, and to be ready."""

    node_s: float
    ready_s: float


class ServerCluster:
    """One namespace. `ask` calls the API again where it fails for a while."""

    def __init__(
        self, core: k8s_client.CoreV1Api, namespace: str, ask: Callable[[Callable[[], Any]], Any]
    ) -> None:
        self.core = core
        self.apps = k8s_client.AppsV1Api(core.api_client)
        self.namespace = namespace
        self._ask = ask

    def make(self, set_id: str, objects: Sequence[Object], *, watched: bool) -> None:
        """Create these objects, and the agents' token if they are `watched`. What is there already of this set stays as it is."""
        if watched:
            self._create(self.core.create_namespaced_secret, _token_of(set_id))
        for kind in KINDS:
            for one in objects:
                if one["kind"] == kind:
                    self._create(self._creators()[kind], one)

    def wait(
        self, set_id: str, copies: int, limits: Limits, go_on: Callable[[], None]
    ) -> dict[str, list[object]]:
        """Until so many pods are ready; returns them as storebench.servers.pods.seen. `go_on` is called again and again, and may raise.

        Raises ServersFailed where one cannot start, or not in time, with what is known of the reason.
        """
        began_s = time.monotonic()
        while True:
            found = self.pods(set_id)
            if sum(map(is_ready, found)) >= copies:
                return seen(found)
            if wrong := trouble(found):
                raise ServersFailed(f"The server {wrong.pod} does not start: {wrong.why}{self._log(wrong)}")
            waited_s = time.monotonic() - began_s
            lacking = unscheduled(found)
            if lacking and waited_s > limits.node_s:
                raise ServersFailed(f"{lacking}. It waited {limits.node_s:.0f} s{self._warnings(set_id)}")
            if waited_s > limits.ready_s:
                raise ServersFailed(self._late(set_id, found, copies, limits.ready_s))
            go_on()
            time.sleep(POLL_INTERVAL_S)

    def pods(self, set_id: str) -> list[k8s.V1Pod]:
        """The servers' pods."""
        found: list[k8s.V1Pod] = self._ask(
            lambda: self.core.list_namespaced_pod(self.namespace, label_selector=f"{LABEL}={set_id}")
        ).items
        return found

    def remove(self, set_id: str) -> None:
        """Remove all that there is of this set, its data, too, and wait until it is gone. It is no error if there is nothing.

        Raises ServersFailed if something is still there after GONE_WITHIN_S.
        """
        self._delete(self.core.delete_namespaced_secret, secret_of(set_id))
        deadline_s = time.monotonic() + GONE_WITHIN_S
        while left := list(self._delete_all(set_id)):
            if time.monotonic() > deadline_s:
                raise ServersFailed(
                    f"Still there {GONE_WITHIN_S:.0f} s after the removal of servers: {', '.join(left)}. Does the node answer?"
                )
            time.sleep(POLL_INTERVAL_S)

    def _delete_all(self, set_id: str) -> Iterator[str]:
        """Ask for the removal of each object that is still there; yields their names. Pods after what would make them again."""
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
            for one in items:
                more = {"grace_period_seconds": GRACE_S} if kind == "pod" else {}
                self._delete(delete, one.metadata.name, **more)
                yield f"{kind} {one.metadata.name}"

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
            if error.status == 409:  # a call whose answer was lost
                return
            what = f"{body['kind']} {body['metadata']['name']}"
            if error.status == 403:
                raise SpecError(
                    f"Kubernetes refused the {what} in the namespace {self.namespace!r}: {error.status} {error.reason}. Give the"
                    " connection's account the rights that deploy/kubernetes has"
                ) from error
            raise ServersFailed(
                f"Kubernetes refused the {what}: {error.status} {error.reason}: {error.body}"
            ) from error

    def _delete(self, delete: Callable[..., Any], name: str, **more: Any) -> None:
        try:
            self._ask(lambda: delete(name, self.namespace, **more))
        except ApiException as error:
            if error.status != 404:
                raise

    def _late(self, set_id: str, found: Sequence[k8s.V1Pod], copies: int, limit_s: float) -> str:
        ready = [pod for pod in found if is_ready(pod)]
        late = [pod.metadata.name for pod in found if pod not in ready]
        said = f"{len(ready)} of {copies} servers are ready after {limit_s:.0f} s"
        if not late:
            return f"{said}: Kubernetes has made no more of them{self._warnings(set_id)}"
        return f"{said}, {', '.join(late)} not{self._warnings(set_id)}{self._log(Trouble(late[0], ''))}"

    def _warnings(self, set_id: str) -> str:
        """Return Kubernetes' last warnings about the servers."""
        try:
            events = self._ask(
                lambda: self.core.list_namespaced_event(self.namespace, field_selector="type=Warning")
            ).items
        except ApiException:
            return ""
        own = [one for one in events if set_id in (one.involved_object.name or "")]
        said = dict.fromkeys(f"{one.involved_object.name}: {one.message}" for one in own[-WARNINGS:])
        return f". Kubernetes says: {'; '.join(said)}" if said else ""

    def _log(self, wrong: Trouble) -> str:
        """The end of the server's log: of the one that has ended, where it was started again."""
        for previous in (True, False) if wrong.container else (False, True):
            try:
                answer = self._ask(
                    lambda previous=previous: self.core.read_namespaced_pod_log(  # type: ignore[misc]
                        wrong.pod,
                        self.namespace,
                        tail_lines=LOG_LINES,
                        previous=previous,
                        _preload_content=False,  # its decoding takes bytes for a text
                        **({"container": wrong.container} if wrong.container else {}),
                    )
                )
            except ApiException:  # there is none, or not any more
                continue
            # a container that has not begun has said nothing
            said = (answer.data or b"").decode(errors="replace").strip()
            if said and not said.startswith(NO_LOG):
                return f". The end of its log:\n{said[-LOG_CHARACTERS:]}"
        return ""


def _token_of(set_id: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret_of(set_id), "labels": {**MANAGED, LABEL: set_id}},
        "data": {TOKEN_KEY: base64.b64encode(token_hex(32).encode()).decode()},
    }
