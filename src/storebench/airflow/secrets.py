"""The Kubernetes Secrets of a run: made from Airflow's connections when it needs them, removed when no run does any more."""

from __future__ import annotations

from collections.abc import Sequence

from kubernetes.client.exceptions import ApiException
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed
from urllib3.exceptions import HTTPError

from storebench.airflow import connections, kubernetes_api
from storebench.airflow.node_pools import NodePool
from storebench.errors import StorebenchError, StoreUnreachable

WAIT_S = 1.0
TIMEOUT_S = 30  # of a call while others wait


def apply(run_id: str, names: Sequence[str], node_pool: NodePool) -> None:
    """Create or replace the Secrets of these connections, which the run needs, in the namespace of the node pool's pods.

    Raises what connections.apply_secrets does; where the cluster does not answer, it is asked again for some time.
    """
    connections.left().use_secrets(run_id, node_pool.name, names)
    retrying = Retrying(
        retry=retry_if_exception_type(StoreUnreachable),
        stop=stop_after_delay(kubernetes_api.PATIENCE_S),
        wait=wait_fixed(WAIT_S),
        reraise=True,
    )
    retrying(connections.apply_secrets, list(names), node_pool)


def release(run_id: str) -> None:
    """Remove the Secrets that this run needed and no other run does. What cannot be removed is said; the next run tries it again."""
    try:
        connections.left().release_secrets(run_id, _remove)
    except (StorebenchError, ApiException, HTTPError) as error:
        reason = f"{error.status} {error.reason}" if isinstance(error, ApiException) else error
        print(f"The Secrets of the run {run_id} are left in the cluster: {reason}. The next run removes them")


def _remove(node_pool: str, name: str) -> None:
    from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook

    hook = KubernetesHook(conn_id=connections.PREFIX + NodePool(node_pool).connection)
    namespace = hook.get_namespace() or "default"
    try:
        hook.core_v1_client.delete_namespaced_secret(
            connections.secret_name(name), namespace, _request_timeout=TIMEOUT_S
        )
    except ApiException as error:
        if error.status != 404:
            raise
