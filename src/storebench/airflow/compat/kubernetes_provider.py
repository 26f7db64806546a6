"""Wrap the Kubernetes provider's errors, labels, Secrets and hook.

Written for apache-airflow-providers-cncf-kubernetes 10.25.0.

Remove `label_value` when pods have a label with the unchanged id of their task, or the provider documents its function. Remove
`KubernetesApiException` when the provider raises the API client's own errors. `Secret` and the hook are documented: they can move to
their callers when the type annotations of `Secret` are complete. `LABELS_OF_TASKS` are the labels of `_get_ti_pod_labels`,
`build_pod_request_obj` and `patch_already_checked` of the pod operator.
"""

from __future__ import annotations

from airflow.providers.cncf.kubernetes.kubernetes_helper_functions import KubernetesApiException
from airflow.providers.cncf.kubernetes.pod_generator import make_safe_label_value
from airflow.providers.cncf.kubernetes.secret import Secret
from kubernetes import client as k8s_client

# The labels that the provider gives the pod of a task. By some of them, the provider finds the pod again.
LABELS_OF_TASKS = frozenset(
    [
        "dag_id",
        "task_id",
        "run_id",
        "map_index",
        "try_number",
        "parent_dag_id",
        "kubernetes_pod_operator",
        "airflow_version",
        "airflow_kpo_in_cluster",
        "already_checked",
    ]
)
__all__ = [
    "LABELS_OF_TASKS",
    "KubernetesApiException",
    "Secret",
    "cluster_of",
    "file_of",
    "label_value",
    "variable_of",
]


def label_value(text: str) -> str:
    """Return the value that the provider writes into a pod's label for the id of a DAG, a run or a task."""
    return make_safe_label_value(text)


def variable_of(name: str, secret: str, key: str) -> Secret:
    """Return the declaration of a pod's environment variable `name`, whose value is a key of a Kubernetes Secret."""
    return Secret("env", name, secret, key)  # type: ignore[no-untyped-call]


def file_of(folder: str, secret: str) -> Secret:
    """Return the declaration of a folder in a pod, which has a file for each key of a Kubernetes Secret."""
    return Secret("volume", folder, secret)  # type: ignore[no-untyped-call]


def cluster_of(connection_id: str) -> tuple[k8s_client.CoreV1Api, str]:
    """Return the API of the cluster of an Airflow Connection, and the connection's namespace."""
    from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook

    hook = KubernetesHook(conn_id=connection_id)
    return hook.core_v1_client, hook.get_namespace() or "default"
