"""The Kubernetes Secrets of a run: made from Airflow's connections when it needs them, removed when no run does any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from storebench.airflow import connections
from storebench.airflow.kubernetes_api import ask_again
from storebench.airflow.node_pools import NodePool
from storebench.errors import SpecError, StorebenchError, StoreUnreachable

if TYPE_CHECKING:
    from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook


def apply(run_id: str, names: Iterable[str], node_pool: NodePool) -> None:
    """Create or replace the Secrets of these connections, which the run needs, in the namespace of the node pool's pods.

    Raises SpecError where the account may not, StoreUnreachable where the cluster does not answer.
    """
    names = list(names)
    connections.left().use_secrets(run_id, node_pool.name, names)
    hook, namespace = _cluster(node_pool)
    connection_id = connections.PREFIX + node_pool.connection

    def put(name: str) -> None:
        body = connections.secret_body(name)
        try:
            hook.core_v1_client.replace_namespaced_secret(connections.secret_name(name), namespace, body)
        except ApiException as error:
            if error.status != 404:
                raise
            hook.core_v1_client.create_namespaced_secret(namespace, body)

    try:
        for name in names:
            ask_again(lambda name=name: put(name))  # type: ignore[misc]
    except ApiException as error:
        raise SpecError(
            f"Kubernetes does not take a Secret in the namespace {namespace!r} from the account of the connection"
            f" {connection_id!r}: {error.status} {error.reason}. deploy/kubernetes has the rights that it needs"
        ) from error
    except HTTPError as error:
        raise StoreUnreachable(
            f"The Kubernetes of the connection {connection_id!r} does not answer: {error}"
        ) from error


def release(run_id: str) -> None:
    """Remove the Secrets that this run needed and no other run does. What cannot be removed is said; the next run tries it again."""
    try:
        connections.left().release_secrets(run_id, _remove)
    except (StorebenchError, ApiException, HTTPError) as error:
        reason = f"{error.status} {error.reason}" if isinstance(error, ApiException) else error
        print(f"The Secrets of the run {run_id} are left in the cluster: {reason}. The next run removes them")


def _remove(node_pool: str, name: str) -> None:
    hook, namespace = _cluster(NodePool(node_pool))
    try:
        hook.core_v1_client.delete_namespaced_secret(connections.secret_name(name), namespace)
    except ApiException as error:
        if error.status != 404:
            raise


def _cluster(node_pool: NodePool) -> tuple[KubernetesHook, str]:
    from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook

    hook = KubernetesHook(conn_id=connections.PREFIX + node_pool.connection)
    return hook, hook.get_namespace() or "default"
