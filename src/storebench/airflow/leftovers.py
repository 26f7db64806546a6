"""What runs that are over have left in a pool of nodes: pods whose tasks were killed, and data in the stores."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from airflow.providers.cncf.kubernetes.pod_generator import make_safe_label_value
from airflow.providers.cncf.kubernetes.utils.pod_manager import PodPhase
from kubernetes import client as k8s_client
from kubernetes.client.exceptions import ApiException

from storebench import stores
from storebench.airflow import connections
from storebench.airflow.ends import run_states
from storebench.airflow.kubernetes_api import ask_again
from storebench.errors import SpecError, StoreUnreachable
from storebench.results.left import Undropped

GONE_WITHIN_S = 60.0
POLL_INTERVAL_S = 0.5

log = logging.getLogger(__name__)


def left_here(ti: Any, run_id: str, node_pool: str) -> list[Undropped]:
    """What other runs that are over have left in the stores that are measured on these nodes; the oldest first."""
    others = [
        left
        for left in connections.left().undropped()
        if left.run_id != run_id and left.node_pool == node_pool
    ]
    if not others:
        return []
    states = run_states(ti)
    runs = {(left.dag_id, left.airflow_run_id, left.airflow_id) for left in others}
    over = {run for run in runs if states.over(*run)[0]}
    return [left for left in others if (left.dag_id, left.airflow_run_id, left.airflow_id) in over]


def clean(
    left: Sequence[Undropped],
    client: k8s_client.CoreV1Api,
    namespace: str,
    drop: Callable[[Undropped], None],
) -> None:
    """Remove these runs' pods, then their data, each by `drop`. What has to stay is said, and fails nothing: the next run tries again.

    A server that does not answer is asked once. What had a connection that is there no more is forgotten.
    """
    for dag_id, airflow_run_id in dict.fromkeys((one.dag_id, one.airflow_run_id) for one in left):
        own = {"dag_id": dag_id, "run_id": airflow_run_id}
        selector = ",".join(f"{name}={make_safe_label_value(value)}" for name, value in own.items())
        remove_pods(client, namespace, selector, wait=True)
    silent: dict[str | None, str] = {}
    for one in left:
        try:
            server = stores.connection(one.cell.store)
            if server:
                connections.get(server)
        except SpecError as error:
            log.warning("Forgotten, as it cannot be reached any more: %s. %s", one, error)
            connections.left().dropped(one.run_id, one.cell, one.repeat)
            continue
        try:
            if server in silent:
                raise StoreUnreachable(silent[server])
            drop(one)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no fault of the run that cleans up
            if isinstance(error, StoreUnreachable):
                silent[server] = str(error)
            log.warning("Left in the store %s: %s", one, error)
            continue
        connections.left().dropped(one.run_id, one.cell, one.repeat)
        log.info("Removed from the store %s", one)


def remove_pods(client: k8s_client.CoreV1Api, namespace: str, selector: str, *, wait: bool = False) -> None:
    """Remove the pods with these labels; `wait`: until they are gone, GONE_WITHIN_S at most."""

    def found() -> list[k8s_client.V1Pod]:
        pods: list[k8s_client.V1Pod] = ask_again(
            lambda: client.list_namespaced_pod(namespace, label_selector=selector)
        ).items
        return pods

    def delete(name: str) -> None:
        try:
            client.delete_namespaced_pod(name, namespace)
        except ApiException as error:
            if error.status != 404:
                raise

    for pod in found():
        if pod.status.phase not in PodPhase.terminal_states:
            log.warning("Removing the pod %s, whose task has ended without it", pod.metadata.name)
        ask_again(lambda name=pod.metadata.name: delete(name))  # type: ignore[misc]
    deadline_s = time.monotonic() + GONE_WITHIN_S
    while wait and found() and time.monotonic() < deadline_s:
        time.sleep(POLL_INTERVAL_S)
