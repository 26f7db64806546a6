"""Remove the leftovers of ended runs: pods whose tasks were killed, data in stores, and datasets and results in S3 that no run uses."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from kubernetes import client as k8s_client
from kubernetes.client.exceptions import ApiException

from storebench import s3
from storebench.airflow import connections
from storebench.airflow.compat.kubernetes_provider import label_value
from storebench.airflow.kubernetes.calls import ENDED_PHASES, ask_again
from storebench.airflow.kubernetes.parts import remove_jobs_of
from storebench.airflow.kubernetes.placement import LABEL
from storebench.airflow.operators.run_end import run_states
from storebench.airflow.operators.specs import RESULTS
from storebench.errors import SpecError, StorebenchError, StoreUnreachable
from storebench.planning.node_pools import DEFAULT, NodePool, node_pools
from storebench.results.leftovers.tracking import Undropped
from storebench.results.leftovers.unneeded import data_of_runs_over
from storebench.study import studies
from storebench.study.dataset import MANIFEST, folder_of, is_id

GONE_WITHIN_S = 300.0
UNREAD_FOR = timedelta(days=1)
# The keys of results that attempts put into S3 (storebench.attempt.overflow). Other objects of a shared bucket stay.
RESULT_KEY = re.compile(
    re.escape(RESULTS) + r"storebench_[A-Za-z0-9_]{1,30}_[0-9a-f]{16}/[a-z][a-z0-9_]*-[^/]+"
)
POLL_INTERVAL_S = 0.5

log = logging.getLogger(__name__)


def undropped_here(ti: Any, run_id: str, node_pool: NodePool) -> list[Undropped]:
    """Return the data that other, ended runs have left in the stores measured in this node pool, oldest first. The default node pool also
    has the data of node pools that no longer exist.
    """
    pools = node_pools()

    def is_here(data: Undropped) -> bool:
        measured_in = NodePool(data.node_pool)
        return (measured_in if measured_in in pools else DEFAULT) == node_pool

    leftovers = data_of_runs_over(connections.leftovers(), run_states(ti))
    return [data for data in leftovers if data.run_id != run_id and is_here(data)]


def remove_pods_of_runs_over(ti: Any, client: k8s_client.CoreV1Api, namespace: str) -> None:
    """Remove the pods of recorded runs that have ended, and wait until the pods are gone."""
    pods = ask_again(lambda: client.list_namespaced_pod(namespace, label_selector=LABEL)).items
    labels_with_pods = {
        (pod.metadata.labels.get("dag_id"), pod.metadata.labels.get("run_id")) for pod in pods
    }
    if not labels_with_pods:
        return
    states = run_states(ti)
    for run in connections.leftovers().runs():
        labels = label_value(run["dag_id"]), label_value(run["airflow_run_id"])
        if (
            labels in labels_with_pods
            and states.over(run["dag_id"], run["airflow_run_id"], run["airflow_id"])[0]
        ):
            remove_pods(client, namespace, f"dag_id={labels[0]},run_id={labels[1]}")


def remove_data(undropped: Sequence[Undropped], drop: Callable[[Undropped], None]) -> list[str]:
    """Remove this data by `drop`. Logs and returns the data that stays, with the reasons; the next run tries again.

    A server that does not answer is asked once. The data of a connection that no longer exists is forgotten.
    """
    remaining = []
    silent: dict[str | None, str] = {}
    for data in undropped:
        try:
            server = studies.find(data.cell.study).store(data.cell.store).connection_of(data.cell.store)
        except SpecError as error:
            log.warning("Not removed from the store %s: %s", data, error)
            remaining.append(f"{data}: {error}")
            continue
        try:
            if server:
                connections.get(server)
        except SpecError as error:
            log.warning("Not removed from the store, because its connection is gone: %s. %s", data, error)
            connections.leftovers().dropped(data.run_id, data.cell, data.repeat)
            continue
        try:
            if server in silent:
                raise StoreUnreachable(silent[server])
            drop(data)
        except Exception as error:  # noqa: BLE001 - whatever the error is, the run that cleans up did not cause it
            if isinstance(error, StoreUnreachable):
                silent[server] = str(error)
            log.warning("Not removed from the store %s: %s", data, error)
            remaining.append(f"{data}: {error}")
            continue
        connections.leftovers().dropped(data.run_id, data.cell, data.repeat)
        log.info("Removed from the store %s", data)
    return remaining


def remove_datasets() -> list[str]:
    """Remove from S3 the datasets that no recorded run uses. Logs and returns the datasets that stay, with the reasons."""
    remaining = []
    for dataset in connections.leftovers().datasets():
        name = f"the dataset {dataset['id']}"
        try:
            connections.leftovers().remove_dataset(dataset["id"], partial(_remove_dataset, dataset["id"]))
        except StorebenchError as error:
            log.warning("Not removed from S3: %s: %s", name, error)
            remaining.append(f"{name}: {error}")
        else:
            log.info("Removed from S3: %s", name)
    return remaining


def remove_results() -> list[str]:
    """Remove from S3 the results that no operator has read and removed, because their pods or tasks were killed.

    Returns the reason if they cannot be removed. A result younger than UNREAD_FOR stays: its attempt may not be recorded yet. An object
    whose key is not the key of a result stays, too.
    """
    client, bucket = connections.s3(), connections.bucket()
    oldest = datetime.now(UTC) - UNREAD_FOR
    try:
        with s3.errors(client, bucket, RESULTS):
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=RESULTS)
            items = [item for page in pages for item in page.get("Contents", [])]
            keys = [item["Key"] for item in items if item["LastModified"] < oldest]
            unread = [key for key in keys if RESULT_KEY.fullmatch(key)]
            log.info("Results in S3 that no task has read: %s", ", ".join(unread) or "none")
            for key in unread:
                client.delete_object(Bucket=bucket, Key=key)
                log.info("Removed from S3: %s", key)
    except StorebenchError as error:
        log.warning("Results of no attempt are not removed from S3: %s", error)
        return [f"results of no attempt: {error}"]
    return []


def _remove_dataset(dataset: str) -> None:
    """Remove the objects of a dataset, the manifest first: a dataset with a manifest is complete. Raises SpecError for an invalid id."""
    if not is_id(dataset):
        raise SpecError(f"{dataset!r} is no id of a dataset: nothing of this name is removed from S3")
    client, bucket, folder = connections.s3(), connections.bucket(), folder_of(dataset)
    with s3.errors(client, bucket, folder):
        client.delete_object(Bucket=bucket, Key=folder + MANIFEST)
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=folder):
            for item in page.get("Contents", []):
                client.delete_object(Bucket=bucket, Key=item["Key"])


def cells_with_pods(client: k8s_client.CoreV1Api, namespace: str, selector: str) -> list[int]:
    """Return the numbers of the cells that have pods with these labels."""
    pods = ask_again(lambda: client.list_namespaced_pod(namespace, label_selector=selector)).items
    return sorted({int(pod.metadata.labels.get("map_index", 0)) for pod in pods})


def remove_pods(client: k8s_client.CoreV1Api, namespace: str, selector: str) -> None:
    """Remove the pods with these labels and all other pods of their attempts (some pods start pods), and wait until the pods are gone:
    they may still be working. Raises StorebenchError for pods that exist after GONE_WITHIN_S seconds.
    """

    def pods_with(labels: str) -> list[k8s_client.V1Pod]:
        pods: list[k8s_client.V1Pod] = ask_again(
            lambda: client.list_namespaced_pod(namespace, label_selector=labels)
        ).items
        return pods

    def delete(name: str) -> None:
        try:
            client.delete_namespaced_pod(name, namespace)
        except ApiException as error:
            if error.status != 404:
                raise

    selected = [pod.metadata.labels for pod in pods_with(selector)]
    attempts = sorted({labels[LABEL] for labels in selected if LABEL in labels})
    if not attempts:
        return
    of_attempts = f"{LABEL} in ({','.join(attempts)})"
    pods = pods_with(of_attempts)
    remove_jobs_of(client, namespace, pods)  # first, because a Job makes anew a pod that is removed
    for pod in pods:
        if pod.status.phase not in ENDED_PHASES:
            log.warning(
                "Removing the pod %s, which is still there although its task has ended", pod.metadata.name
            )
        ask_again(lambda name=pod.metadata.name: delete(name))  # type: ignore[misc]
    deadline_s = time.monotonic() + GONE_WITHIN_S
    while remaining := pods_with(of_attempts):
        if time.monotonic() > deadline_s:
            names = ", ".join(pod.metadata.name for pod in remaining)
            raise StorebenchError(
                f"Still there {GONE_WITHIN_S:.0f} s after the removal: {names}. Does the node answer? `kubectl delete pod --force` gives up"
            )
        time.sleep(POLL_INTERVAL_S)
