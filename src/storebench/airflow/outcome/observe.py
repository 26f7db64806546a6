"""Turn a pod and its Kubernetes events into an attempt's record, by pure functions."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from airflow.sdk.exceptions import AirflowException
from kubernetes.client import models as k8s

from storebench import protocol
from storebench.airflow.kubernetes.calls import error_text
from storebench.attempt.result import AttemptResult
from storebench.errors import KIND_OF_EXIT_CODE, BadResult, ServerDied, StorebenchError
from storebench.results.database.attempts import PodRecord

# A container that waits for one of these reasons never starts: its image is the problem.
IMAGE_REASONS = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
STARTING = {"ContainerCreating", "PodInitializing"}  # reasons of a container that will start
DISRUPTED = "DisruptionTarget"  # condition of a pod that a drain, a preemption or a lost node ends
BY_SIGNAL = 128  # the exit code of a program that a signal has ended is this number plus the signal's
STOPPING = {signal.SIGTERM, signal.SIGINT}  # signals that come from outside the pod


class PodOverdue(AirflowException):
    """The error of a pod that has not ended after `limit_s` seconds, although Kubernetes ends a pod after `deadline_s` seconds of work."""

    def __init__(self, limit_s: int, deadline_s: int | None) -> None:
        super().__init__(
            f"No end of the pod is known after {limit_s} s, although Kubernetes was to end the pod after {deadline_s} s: is its node lost?"
        )


def container_status(pod: k8s.V1Pod, container: str) -> k8s.V1ContainerStatus | None:
    statuses = (pod.status and pod.status.container_statuses) or []
    return next((status for status in statuses if status.name == container), None)


def container_of(pod: k8s.V1Pod, container: str) -> k8s.V1Container:
    """Return the container of this name, which a sidecar may precede. Without a container of this name, return the first container."""
    containers = pod.spec.containers
    return next((item for item in containers if item.name == container), containers[0])


def pod_record(pod: k8s.V1Pod | None, container: str) -> PodRecord:
    """Return the pod's name, node, exit code, and life in seconds: from its container's start to its end, with a resolution of 1 s."""
    if pod is None:
        return PodRecord()
    ended = terminated(pod, container)
    started_at = ended.started_at if ended else None
    finished_at = ended.finished_at if ended else None
    return PodRecord(
        pod=pod.metadata.name,
        node=pod.spec.node_name,
        exit_code=ended.exit_code if ended else None,
        pod_total_s=(finished_at - started_at).total_seconds() if started_at and finished_at else None,
        started_at=started_at,
        finished_at=finished_at,
    )


def terminated(pod: k8s.V1Pod | None, container: str) -> k8s.V1ContainerStateTerminated | None:
    """Return how the container has ended; None if it has not."""
    status = container_status(pod, container) if pod else None
    return status.state.terminated if status and status.state else None


def is_evicted(pod: k8s.V1Pod | None) -> bool:
    """Return whether Kubernetes has begun to end the pod for a reason outside the pod, such as a drained node."""
    return pod is not None and _condition(pod, DISRUPTED) is not None


def attempt_result(pod: k8s.V1Pod | None, container: str, error: BaseException | None) -> AttemptResult:
    """Return the attempt's result: the pod's own if it has left a result, else a failure with the reason that Kubernetes gives.

    `error`: the error of Airflow's operator, the last resort for a reason.
    """
    ended = terminated(pod, container)
    if ended and ended.message and (result := _parsed(ended.message, ended.exit_code)):
        return result
    return _forced_end(pod, container) or _no_result(pod, container, error)


def _parsed(message: str, exit_code: int) -> AttemptResult | None:
    """Return the result in a termination message, or a failure for an invalid one; None if the message is the end of a failed pod's log."""
    try:
        content = protocol.read(message)
    except ValueError as error:
        if exit_code:
            return None
        return _failed(
            BadResult.kind,
            f"The pod's result is no JSON: {error}. A result of more than {protocol.MESSAGE_BYTES} bytes is cut off",
        )
    if exit_code and not (isinstance(content, dict) and "status" in content):
        return None
    if wrong := protocol.problem("result", content):
        return _failed(BadResult.kind, f"The pod's result is not as docs/protocol.md has it: {wrong}")
    return AttemptResult.from_json(message)


def stopped() -> AttemptResult:
    """Return the result of an attempt whose task was stopped, and whose pod was removed with the task."""
    return _failed("killed", "The task was stopped in Airflow while its pod ran")


def with_kubernetes_reason(result: AttemptResult, pod: k8s.V1Pod | None, container: str) -> AttemptResult:
    """Return the result with Kubernetes' reason where Kubernetes has ended the pod: the pod only knows that it was told to stop. The
    result keeps its figures.
    """
    forced = _forced_end(pod, container)
    if result.status == "verified" or forced is None:
        return result
    return replace(result, error_kind=forced.error_kind, error=forced.error)


def with_deaths(result: AttemptResult, deaths: str) -> AttemptResult:
    """Return the result of an attempt whose servers have changed: a failed attempt gets this reason, a verified attempt is disturbed."""
    if result.status == "verified":
        return replace(result, disturbed="; ".join(filter(None, [result.disturbed, deaths])))
    client_error = f". The client says: {result.error}" if result.error else ""
    return replace(result, error_kind=ServerDied.kind, error=f"{deaths[0].upper()}{deaths[1:]}{client_error}")


def step_result(pod: k8s.V1Pod | None, container: str, error: BaseException | None) -> AttemptResult:
    """Return why a pod that reports no attempt has failed, in one line: Kubernetes' reason, or the last line of the pod's log."""
    if forced := _forced_end(pod, container):
        return forced
    result, ended = _no_result(pod, container, error), terminated(pod, container)
    last_words = ((ended and ended.message) or "").strip().rpartition("\n")[2]
    if last_words and not last_words.startswith("{"):  # JSON is the result of a pod that ended well
        last_words = last_words.removeprefix("storebench: ")
        crashed = result.error_kind == "crashed"  # the last words of a crashed program do not say why
        result.error = f"{result.error}. Its last words: {last_words}" if crashed else last_words
        result.error = protocol.storable(result.error)
    result.without_secrets()
    return result


def reason_of_part(pod: k8s.V1Pod, container: str) -> AttemptResult | None:
    """Return why the pod of a part has failed or has not started; None if Kubernetes knows no reason.

    The exit code of a part's program is no reason: a part also fails because another part has failed.
    """
    if forced := _forced_end(pod, container):
        return forced
    if ended := terminated(pod, container):
        return _ended_without_result(pod, ended) if ended.exit_code > BY_SIGNAL else None
    result = _no_result(pod, container, None)
    status = container_status(pod, container)
    is_waiting = (
        status and status.state and status.state.waiting and status.state.waiting.reason not in STARTING
    )
    return result if result.error_kind == "unschedulable" or is_waiting else None


def unschedulable(reason: str | None) -> AttemptResult:
    """Return the result of a pod that no node can take, with the scheduler's reason."""
    return _failed("unschedulable", f"No node can take the pod: {reason}")


def is_scheduled_after(pod: k8s.V1Pod, leader: k8s.V1Pod | None, container: str) -> bool:
    """Return whether a part's pod got a node only when the leader's pod had ended and left room."""
    ended, scheduled_at = terminated(leader, container), _scheduled_at(pod)
    return bool(ended and ended.finished_at and scheduled_at and scheduled_at >= ended.finished_at)


def _scheduled_at(pod: k8s.V1Pod) -> datetime | None:
    return _time(_condition(pod, "PodScheduled"), "last_transition_time")


def _condition(pod: k8s.V1Pod, name: str, status: str = "True") -> k8s.V1PodCondition | None:
    """Return the pod's condition of this type and status; None if the pod has no such condition."""
    conditions = (pod.status and pod.status.conditions) or []
    return next((one for one in conditions if (one.type, one.status) == (name, status)), None)


def _forced_end(pod: k8s.V1Pod | None, container: str) -> AttemptResult | None:
    """Return a failure with Kubernetes' reason if Kubernetes has ended the pod; else None."""
    if pod is None:
        return None
    reason = pod.status.reason if pod.status else None
    if reason == "DeadlineExceeded":
        return _failed(
            "timeout",
            f"Not finished after {pod.spec.active_deadline_seconds} s: raise the parameter attempt_timeout_s",
        )
    ended = terminated(pod, container)
    if ended and ended.reason == "OOMKilled":
        resources = container_of(pod, container).resources
        limit = ((resources and resources.limits) or {}).get("memory")
        return _failed(
            "oom_killed",
            f"The pod needed more memory than its limit of {limit}: raise the parameter pod_memory",
        )
    if reason:  # Evicted by the kubelet, for example
        return _failed(
            "killed", f"Kubernetes ended the pod: {reason}: {pod.status.message or 'it gives no reason'}"
        )
    if disruption := _condition(pod, DISRUPTED):
        return _failed("killed", f"Kubernetes ended the pod: {disruption.reason}: {disruption.message}")
    return None


def _no_result(pod: k8s.V1Pod | None, container: str, error: BaseException | None) -> AttemptResult:
    """Return the failure of a pod that has left no result and was not ended by Kubernetes."""
    if pod is None:
        return _failed("infrastructure", f"No pod: {_text(error)}")
    status, ended = container_status(pod, container), terminated(pod, container)
    if ended:
        return _ended_without_result(pod, ended)
    if refused := _condition(pod, "PodScheduled", "False"):
        return unschedulable(refused.message)
    waiting = status.state.waiting if status and status.state else None
    if waiting:
        kind = "image" if waiting.reason in IMAGE_REASONS else "infrastructure"
        return _failed(kind, f"The pod cannot start: {waiting.reason}: {waiting.message or _text(error)}")
    if isinstance(error, PodOverdue):
        return _failed("timeout", str(error))
    return _failed("infrastructure", f"The pod did not end: {_text(error)}")


def _ended_without_result(pod: k8s.V1Pod, ended: k8s.V1ContainerStateTerminated) -> AttemptResult:
    """Return the failure that an exit code means. SIGKILL comes from the kubelet if the pod is being deleted, else from the kernel."""
    ending = f"The container ended with exit code {ended.exit_code} ({ended.reason}) and no result"
    try:
        number = signal.Signals(ended.exit_code - BY_SIGNAL)
    except ValueError:
        return _failed(KIND_OF_EXIT_CODE.get(ended.exit_code, StorebenchError.kind), ending)
    if number in STOPPING or (number == signal.SIGKILL and pod.metadata.deletion_timestamp):
        return _failed("killed", ending)
    hint = ": its node had no memory left, perhaps" if number == signal.SIGKILL else ""
    return _failed("crashed", f"{number.name} ended the program{hint}. {ending}")


def pod_environment(pod: k8s.V1Pod | None, container: str) -> dict[str, Any]:
    """Return the part of an attempt's environment that only Kubernetes knows: the image. The node is excluded, as nodes may be equal."""
    if pod is None:
        return {}
    status = container_status(pod, container)
    return {
        "image": container_of(pod, container).image,
        "image_id": status.image_id if status else None,
    }


def phases(
    pod: k8s.V1Pod | None,
    events: Sequence[k8s.CoreV1Event],
    container: str,
    queued_at: datetime | None,
    result: AttemptResult,
) -> dict[str, float]:
    """Return all phases in order, in seconds: Kubernetes' phases (1 s resolution), the pod's phases, and the unexplained remainder."""
    durations: dict[str, float] = {}
    if pod is not None:
        created_at = pod.metadata.creation_timestamp
        scheduled_at = _scheduled_at(pod)
        pulled = (event for event in events if event.reason == "Pulled" and _is_of(event, container))
        pulled_at = next(map(_event_time, pulled), None)
        record = pod_record(pod, container)
        marks = [
            ("queued", queued_at, created_at),
            ("scheduled", created_at, scheduled_at),
            ("image_pulled", scheduled_at, pulled_at),
            ("container_started", pulled_at or scheduled_at, record.started_at),
        ]
        for name, began_at, ended_at in marks:
            if began_at and ended_at:
                durations[name] = max(0.0, (ended_at - began_at).total_seconds())
    durations |= result.phases
    if result.total_s is not None:
        durations["other"] = max(0.0, result.total_s - sum(result.phases.values()))
    return durations


def _failed(kind: str, reason: str) -> AttemptResult:
    return AttemptResult(status="failed", error_kind=kind, error=reason)


def _text(error: BaseException | None) -> str:
    return error_text(error) if error else "the reason is not known"


def _time(thing: Any, name: str) -> datetime | None:
    value: datetime | None = getattr(thing, name, None)
    return value


def _is_of(event: k8s.CoreV1Event, container: str) -> bool:
    """Return whether an event concerns this container or the whole pod: an init container has its own events."""
    path = event.involved_object.field_path
    return not path or path.endswith(f"{{{container}}}")


def _event_time(event: k8s.CoreV1Event) -> datetime | None:
    return _time(event, "event_time") or _time(event, "last_timestamp") or _time(event, "first_timestamp")
