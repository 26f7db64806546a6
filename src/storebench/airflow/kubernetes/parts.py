"""Make the other pods of an attempt whose operation several pods do together: an Indexed Job beside the leader's pod."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Collection, Sequence

from airflow.sdk.exceptions import AirflowException
from kubernetes import client as k8s_client
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from storebench.airflow.compat.kubernetes_provider import LABELS_OF_TASKS
from storebench.airflow.kubernetes.calls import RIGHTS, ask_again, error_text
from storebench.airflow.kubernetes.placement import LABEL
from storebench.attempt.parts.environment import LEADER, NODE, PARTS, POD, WAIT_S
from storebench.errors import StorebenchError

FIELDS = {POD: "metadata.name", NODE: "spec.nodeName"}  # variables of the pods, by the field with the value

JOB_OF_POD = "batch.kubernetes.io/job-name"  # the label of a Job's pods with the Job's name
INDEX = "batch.kubernetes.io/job-completion-index"  # their annotation with their number, from 0
ADDRESS_WITHIN_S = 30.0  # Kubernetes reports a running pod and its address at about the same time
KEPT_S = 600  # a Job whose operator died is removed this many seconds after its end
POLL_INTERVAL_S = 0.2


class PartsFailed(AirflowException, StorebenchError):
    """Pods of a divided operation that cannot be made, with the cluster's reason."""


def variables(count: int, wait_s: int) -> list[k8s.V1EnvVar]:
    """Return the environment of the leader's pod. `count`: the number of pods. `wait_s`: the leader waits for the other pods this long."""
    texts = [
        k8s.V1EnvVar(name=name, value=str(value)) for name, value in {PARTS: count, WAIT_S: wait_s}.items()
    ]
    fields = [
        k8s.V1EnvVar(
            name=name,
            value_from=k8s.V1EnvVarSource(field_ref=k8s.V1ObjectFieldSelector(field_path=path)),
        )
        for name, path in FIELDS.items()
    ]
    return [*texts, *fields]


def job_name(attempt: str) -> str:
    """Return the name of the Job with the other pods of an attempt. `attempt`: the value of LABEL."""
    return f"part-{attempt[:12]}"


def job_of(
    leader: k8s.V1Pod, container: str, count: int, owner: k8s.V1Pod, starts_within_s: int
) -> k8s.V1Job:
    """Return the Job of the `count` - 1 other pods of an attempt, which are like the leader's pod.

    `leader`: the leader's pod as requested, or as Kubernetes has it. `container`: the name of its container. `owner`: the leader's pod as
    Kubernetes has it, with its address; the Job and its pods are removed with this pod. `starts_within_s`: the seconds in which all pods
    have to start. The pods lack the labels by which Airflow finds the pod of a task. Nothing is retried.
    """
    attempt = owner.metadata.labels[LABEL]
    labels = {name: value for name, value in owner.metadata.labels.items() if name not in LABELS_OF_TASKS}
    spec = copy.deepcopy(leader.spec)
    spec.containers = [part for part in spec.containers if part.name == container]  # without sidecars
    spec.containers[0].env = [
        *(spec.containers[0].env or []),
        k8s.V1EnvVar(name=LEADER, value=owner.status.pod_ip),
    ]
    spec.restart_policy = "Never"
    # A pod that Kubernetes has already placed: its class of priority gives the number once more
    spec.node_name = spec.priority = None
    return k8s.V1Job(
        api_version="batch/v1",
        kind="Job",
        metadata=k8s.V1ObjectMeta(
            name=job_name(attempt),
            namespace=owner.metadata.namespace,
            labels=labels,
            owner_references=[
                k8s.V1OwnerReference(
                    api_version="v1", kind="Pod", name=owner.metadata.name, uid=owner.metadata.uid
                )
            ],
        ),
        spec=k8s.V1JobSpec(
            completion_mode="Indexed",
            completions=count - 1,
            parallelism=count - 1,
            backoff_limit=0,
            active_deadline_seconds=starts_within_s + (spec.active_deadline_seconds or 0),
            ttl_seconds_after_finished=KEPT_S,
            template=k8s.V1PodTemplateSpec(
                metadata=k8s.V1ObjectMeta(labels=labels, annotations=leader.metadata.annotations), spec=spec
            ),
        ),
    )


def start(
    client: k8s_client.CoreV1Api,
    leader: k8s.V1Pod,
    container: str,
    count: int,
    running: k8s.V1Pod,
    starts_within_s: int,
) -> None:
    """Make the Job of the other pods once the leader's pod has an address. An existing Job of the attempt stays. Raises PartsFailed.

    `running`: the leader's pod as Kubernetes has it. The other parameters are those of `job_of`.
    """
    name, namespace = running.metadata.name, running.metadata.namespace
    deadline_s = time.monotonic() + ADDRESS_WITHIN_S
    try:
        owner = ask_again(lambda: client.read_namespaced_pod(name, namespace), RIGHTS)
        while not owner.status.pod_ip and time.monotonic() < deadline_s:
            time.sleep(POLL_INTERVAL_S)
            owner = ask_again(lambda: client.read_namespaced_pod(name, namespace), RIGHTS)
        if not owner.status.pod_ip:
            raise PartsFailed(
                f"The leader's pod {name} has no address, so its other {count - 1} pods cannot find it"
            )
        job = job_of(leader, container, count, owner, starts_within_s)
        ask_again(lambda: k8s_client.BatchV1Api(client.api_client).create_namespaced_job(namespace, job))
    except (ApiException, HTTPError) as error:
        if getattr(error, "status", None) == 409:
            return
        hint = (
            ". Give the account of the Kubernetes connection the rights that deploy/kubernetes has"
            if getattr(error, "status", None) == 403
            else ""
        )
        raise PartsFailed(
            f"The attempt's other {count - 1} pods cannot be made: {error_text(error)}{hint}"
        ) from None


def pods_of_job(client: k8s_client.CoreV1Api, namespace: str, name: str) -> list[k8s.V1Pod]:
    """Return the pods of a Job in the order of their numbers."""
    pods = ask_again(
        lambda: client.list_namespaced_pod(namespace, label_selector=f"{JOB_OF_POD}={name}")
    ).items
    return sorted(pods, key=number_of)


def why_not_made(client: k8s_client.CoreV1Api, namespace: str, name: str) -> str | None:
    """Return the newest reason why Kubernetes could not make a pod of a Job; None without a reason."""
    return _newest_message(
        client, namespace, f"involvedObject.kind=Job,involvedObject.name={name},reason=FailedCreate"
    )


def why_not_scheduled(client: k8s_client.CoreV1Api, pod: k8s.V1Pod) -> str | None:
    """Return the newest reason why no node could take a pod, which may have a node by now; None without a reason."""
    of_pod = f"involvedObject.kind=Pod,involvedObject.name={pod.metadata.name},reason=FailedScheduling"
    return _newest_message(client, pod.metadata.namespace, of_pod)


def _newest_message(client: k8s_client.CoreV1Api, namespace: str, selector: str) -> str | None:
    events = ask_again(lambda: client.list_namespaced_event(namespace, field_selector=selector)).items
    return events[-1].message if events else None


def number_of(pod: k8s.V1Pod) -> int:
    """Return the number of the part that a Job's pod does: the leader does part 0."""
    return int((pod.metadata.annotations or {}).get(INDEX, 0)) + 1


def remove_job(client: k8s_client.CoreV1Api, namespace: str, name: str) -> None:
    """Remove a Job, and let Kubernetes remove its pods. A missing Job is no error."""
    batch = k8s_client.BatchV1Api(client.api_client)

    def delete() -> None:
        try:
            batch.delete_namespaced_job(name, namespace, propagation_policy="Background")
        except ApiException as error:
            if error.status != 404:
                raise

    ask_again(delete)


def remove_jobs_of(client: k8s_client.CoreV1Api, namespace: str, pods: Collection[k8s.V1Pod]) -> None:
    """Remove the Jobs that have made any of these pods."""
    names = {pod.metadata.labels[JOB_OF_POD] for pod in pods if JOB_OF_POD in pod.metadata.labels}
    for name in sorted(names):
        remove_job(client, namespace, name)


def texts_of(failures: Sequence[tuple[k8s.V1Pod, str]], most: int = 3) -> str:
    """Return one line about failed pods of a Job with their reasons. Only the first `most` pods are named."""
    texts = [f"part {number_of(pod)} ({_where(pod)}): {reason}" for pod, reason in failures[:most]]
    more = [f"{len(failures) - most} more parts failed"] if len(failures) > most else []
    return "; ".join([*texts, *more])


def _where(pod: k8s.V1Pod) -> str:
    node = f" on {pod.spec.node_name}" if pod.spec.node_name else ""
    return f"pod {pod.metadata.name}{node}"


def soon(ended: Callable[[], bool], seconds: float) -> None:
    """Return when `ended` returns true, or after `seconds` seconds."""
    deadline_s = time.monotonic() + seconds
    while not ended() and time.monotonic() < deadline_s:
        time.sleep(POLL_INTERVAL_S)
