"""The Kubernetes Secrets of runs: made from Airflow's connections when a run needs them, removed when no run needs them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from secrets import token_hex
from typing import Any

from kubernetes import client as k8s_client
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from storebench.airflow import connections
from storebench.airflow.compat import kubernetes_provider
from storebench.airflow.kubernetes import calls
from storebench.errors import SpecError, StorebenchError, StoreUnreachable
from storebench.patience import patiently
from storebench.planning.node_pools import NodePool
from storebench.servers.pods import answer
from storebench.spark import session
from storebench.spark.options import KEY_NAME

PARTS_KEY_FIELD = "key"  # of the Secret of parts_key
_PARTS_KEY = "parts_key_"
TIMEOUT_S = 30  # the limit of one call: other runs wait for the lock meanwhile


def apply(run_id: str, names: Sequence[str], node_pool: NodePool) -> None:
    """Create or replace the Secrets of these connections, which the run needs, in the namespace of the node pool's pods.

    An existing Secret with a random key stays: pods may be using its key. Raises SpecError where the account lacks the right. Asks
    again for a while where the cluster does not answer or has an internal error, then raises StoreUnreachable.
    """
    connections.leftovers().use_secrets(run_id, node_pool.name, names)
    patiently(calls.PATIENCE_S)(_apply, names, node_pool)


def parts_key(attempt: str) -> str:
    """Return the name of the Secret with a random key that only the pods of this attempt share."""
    return f"{_PARTS_KEY}{attempt}"


def remove(node_pool: str, name: str) -> None:
    """Remove a Secret before the end of its run. A missing Secret is no error. Raises ApiException."""
    _remove(node_pool, name)


def release(run_id: str) -> str | None:
    """Remove the Secrets that this run needed and no other run needs. Prints and returns why they stay (None if they do not); the next run
    tries again.
    """
    try:
        connections.leftovers().release_secrets(run_id, _remove, cache(_place))
    except (StorebenchError, ApiException, HTTPError) as error:
        reason = answer(error) if isinstance(error, ApiException) else error
        remaining = f"The Secrets of the run {run_id} are left in the cluster: {reason}"
        print(f"{remaining}. The next run removes them")
        return remaining
    return None


def _apply(names: Sequence[str], node_pool: NodePool) -> None:
    cluster, namespace = cluster_of(node_pool)
    where = f"Kubernetes (connection {_connection_id(node_pool)!r})"

    def put(name: str) -> None:
        body = _body(name)
        try:
            cluster.replace_namespaced_secret(connections.secret_name(name), namespace, body)
        except ApiException as error:
            if error.status != 404:
                raise
            cluster.create_namespaced_secret(namespace, body)

    def create_once(name: str) -> None:
        try:
            cluster.create_namespaced_secret(namespace, _body(name))
        except ApiException as error:
            if error.status != 409:
                raise

    try:
        for name in names:
            (create_once if _is_random(name) else put)(name)
    except ApiException as error:
        if error.status in (409, 429) or error.status >= 500:  # 409: another task has just made it
            raise StoreUnreachable(f"{where} has an error: {answer(error)}") from error
        raise SpecError(
            f"{where} refused a Secret in the namespace {namespace!r}: {answer(error)}."
            " If the account has no right to make it, give the connection's account the rights that deploy/kubernetes has"
        ) from error
    except HTTPError as error:
        raise StoreUnreachable(f"{where} does not answer: {error}") from error


def _remove(node_pool: str, name: str) -> None:
    cluster, namespace = cluster_of(NodePool(node_pool))
    try:
        cluster.delete_namespaced_secret(connections.secret_name(name), namespace, _request_timeout=TIMEOUT_S)
    except ApiException as error:
        if error.status != 404:
            raise


def _place(node_pool: str) -> tuple[str, ...]:
    """Return the cluster's address and the namespace: equal for node pools whose pods share Secrets. A node pool without a connection
    starts no pods, and shares its Secrets with no other pool.
    """
    try:
        cluster, namespace = cluster_of(NodePool(node_pool))
    except SpecError:
        return (node_pool,)
    return cluster.api_client.configuration.host, namespace


def cluster_of(node_pool: NodePool) -> tuple[k8s_client.CoreV1Api, str]:
    """Return the API of the node pool's cluster, and the namespace of its pods. Raises SpecError where there is no connection."""
    connections.get(node_pool.connection)  # raises an error that says what to do, unlike the hook's error
    return kubernetes_provider.cluster_of(_connection_id(node_pool))


def _connection_id(node_pool: NodePool) -> str:
    return connections.PREFIX + node_pool.connection


def _is_random(name: str) -> bool:
    """Return whether the Secret has a random key instead of a connection."""
    return name == KEY_NAME or name.startswith(_PARTS_KEY)


def _body(name: str) -> dict[str, Any]:
    """Return the Secret with the connection's JSON, or with a new random key."""
    field = session.KEY.name if name == KEY_NAME else PARTS_KEY_FIELD
    key = field if _is_random(name) else connections.SECRET_KEY
    text = token_hex(32) if _is_random(name) else connections.pod(name).to_json()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": connections.secret_name(name),
            "labels": {"app.kubernetes.io/managed-by": "storebench"},
        },
        "data": {key: base64.b64encode(text.encode()).decode()},
    }
