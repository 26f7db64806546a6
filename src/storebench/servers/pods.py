"""Read the state of servers' pods: readiness, trouble, and restarts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubernetes.client import models as k8s

# The kubelet has tried at least twice, or never will.
NO_IMAGE = {"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
CRASHES = 2  # restarts after which a server that is to start is given up

Seen = Mapping[str, Sequence[object]]  # by pod: its uid, and how often its container had been started again


@dataclass(frozen=True)
class Trouble:
    """Why a pod will never be ready. `container` is the one whose log says more, if one does."""

    pod: str
    why: str
    container: str | None = None


def is_ready(pod: k8s.V1Pod) -> bool:
    """Return whether the pod is ready and not being deleted."""
    conditions = (pod.status and pod.status.conditions) or []
    ready = any(one.type == "Ready" and one.status == "True" for one in conditions)
    return ready and not pod.metadata.deletion_timestamp


def seen(pods: Sequence[k8s.V1Pod]) -> dict[str, list[object]]:
    """Return the uid and restarts of each pod by name, which identify a pod until it is replaced or restarts."""
    return {pod.metadata.name: [pod.metadata.uid, _restarts(pod)] for pod in pods}


def unscheduled(pods: Sequence[k8s.V1Pod]) -> str | None:
    """Why some of them have no node; None if all have one."""
    for pod in pods:
        for one in (pod.status and pod.status.conditions) or []:
            if one.type == "PodScheduled" and one.status == "False":
                return f"No node can take {pod.metadata.name}: {one.message}"
    return None


def trouble(pods: Sequence[k8s.V1Pod]) -> Trouble | None:
    """The first that cannot start: its image cannot be had, or its server ends again and again."""
    for pod in pods:
        for status in _statuses(pod):
            waiting = status.state.waiting if status.state else None
            if waiting and waiting.reason in NO_IMAGE:
                why = f"its image {status.image} cannot be had: {waiting.reason}: {waiting.message}"
                return Trouble(pod.metadata.name, why)
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
            reason = pod.status.reason or next((_end(one) for one in _statuses(pod) if not one.ready), "")
            yield f"the server {name} is not ready any more{': ' if reason else ''}{reason}"


def _statuses(pod: k8s.V1Pod) -> list[k8s.V1ContainerStatus]:
    if not pod.status:
        return []
    return [*(pod.status.init_container_statuses or []), *(pod.status.container_statuses or [])]


def _restarts(pod: k8s.V1Pod) -> int:
    return sum(status.restart_count or 0 for status in _statuses(pod))


def _end(status: k8s.V1ContainerStatus) -> str:
    """How its container ended last."""
    for state in (status.state, status.last_state):
        if state and (ended := state.terminated):
            said = _message((ended.message or "").strip().rpartition("\n")[2])
            return f"{ended.reason or 'Error'} (exit code {ended.exit_code}){': ' if said else ''}{said}"
    return "it does not say why"


def _message(line: str) -> str:
    """Return the last message of a server, or of the agent in its container, without the agent's figures."""
    try:
        left = json.loads(line)
    except ValueError:
        return line
    return str(left["message"]) if isinstance(left, dict) and "message" in left else line
