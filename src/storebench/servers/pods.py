"""Read the state of servers' pods: readiness, trouble, and restarts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from storebench.servers.topology import Object

# Reasons of a container without its image: the kubelet has failed to pull the image at least twice, or will never pull it.
NO_IMAGE = {"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
MOST_CHARACTERS = 1_000  # of a sentence of the API server: an admission webhook's can have any length
CRASHES = 2  # restarts after which a starting server counts as failed

Seen = Mapping[str, Sequence[object]]  # by pod: its uid, and the number of its containers' restarts


def answer(error: ApiException) -> str:
    """Return the status of the API server's answer, with Kubernetes' own sentence if there is one, such as the quota that refuses a pod."""
    try:
        sentence = " ".join(str(json.loads(error.body)["message"]).split())[:MOST_CHARACTERS]
    except (TypeError, ValueError, KeyError):
        sentence = ""
    return f"{error.status} {error.reason}{f': {sentence}' if sentence else ''}"


def templates(objects: Sequence[Object]) -> Iterator[Object]:
    """Yield the first pod of each StatefulSet among these objects."""
    for item in objects:
        if item["kind"] == "StatefulSet":
            template = item["spec"]["template"]
            claims = [claim["metadata"]["name"] for claim in item["spec"].get("volumeClaimTemplates", [])]
            volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
            spec = {**template["spec"], "volumes": [*template["spec"].get("volumes", []), *volumes]}
            metadata = {**template["metadata"], "name": f"{item['metadata']['name']}-0"}
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@dataclass(frozen=True)
class Trouble:
    """The reason why a pod will never be ready. `container`: the container whose log may say more, if any."""

    pod: str
    reason: str
    container: str | None = None


def is_ready(pod: k8s.V1Pod) -> bool:
    """Return whether the pod is ready and not being deleted."""
    conditions = (pod.status and pod.status.conditions) or []
    ready = any(condition.type == "Ready" and condition.status == "True" for condition in conditions)
    return ready and not pod.metadata.deletion_timestamp


def seen(pods: Sequence[k8s.V1Pod]) -> dict[str, list[object]]:
    """Return the uid and restarts of each pod by name, which identify a pod until it is replaced or restarts."""
    return {pod.metadata.name: [pod.metadata.uid, _restarts(pod)] for pod in pods}


def unscheduled(pods: Sequence[k8s.V1Pod]) -> str | None:
    """Return why the first pod without a node has none; None if all pods have a node."""
    for pod in pods:
        for condition in (pod.status and pod.status.conditions) or []:
            if condition.type == "PodScheduled" and condition.status == "False":
                return f"No node can take {pod.metadata.name}: {condition.message}"
    return None


def trouble(pods: Sequence[k8s.V1Pod]) -> Trouble | None:
    """Return the trouble of the first pod that cannot start: its image cannot be pulled, or its server ends repeatedly."""
    for pod in pods:
        for status in _statuses(pod):
            waiting = status.state.waiting if status.state else None
            if waiting and waiting.reason in NO_IMAGE:
                reason = f"its image {status.image} cannot be pulled: {waiting.reason}: {waiting.message}"
                return Trouble(pod.metadata.name, reason)
            if (status.restart_count or 0) >= CRASHES and not status.ready:
                return Trouble(
                    pod.metadata.name, f"it ended {status.restart_count} times: {_end(status)}", status.name
                )
    return None


def deaths(before: Seen, pods: Sequence[k8s.V1Pod]) -> Iterator[str]:
    """Yield sentences about servers that were replaced or restarted since `before`."""
    now = {pod.metadata.name: pod for pod in pods}
    for name, (uid, restarts) in before.items():
        pod = now.get(name)
        if pod is None:
            yield f"the server {name} is gone"
        elif pod.metadata.uid != uid:
            yield f"the server {name} was removed, and started again"
        elif _restarts(pod) != restarts:
            ends = [_end(status) for status in _statuses(pod) if status.restart_count]
            yield f"the server {name} ended, and was started again: {'; '.join(ends)}"
        elif not is_ready(pod):
            unready = (status for status in _statuses(pod) if not status.ready)
            reason = pod.status.reason or next(map(_end, unready), "")
            yield f"the server {name} is not ready any more{': ' if reason else ''}{reason}"


def _statuses(pod: k8s.V1Pod) -> list[k8s.V1ContainerStatus]:
    if not pod.status:
        return []
    return [*(pod.status.init_container_statuses or []), *(pod.status.container_statuses or [])]


def _restarts(pod: k8s.V1Pod) -> int:
    return sum(status.restart_count or 0 for status in _statuses(pod))


def _end(status: k8s.V1ContainerStatus) -> str:
    """Return how a container ended last, in words."""
    for state in (status.state, status.last_state):
        if state and (ended := state.terminated):
            message = _message((ended.message or "").strip().rpartition("\n")[2])
            return (
                f"{ended.reason or 'Error'} (exit code {ended.exit_code}){': ' if message else ''}{message}"
            )
    return "it does not say why"


def _message(line: str) -> str:
    """Return the last message of a server, or of the agent in its container, without the agent's figures."""
    try:
        content = json.loads(line)
    except ValueError:
        return line
    return str(content["message"]) if isinstance(content, dict) and "message" in content else line
