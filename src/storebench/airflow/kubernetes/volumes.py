"""Volume claims of cells: made by a cell's first operation, removed by its drop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from airflow.sdk.exceptions import AirflowException
from kubernetes import client as k8s_client
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from storebench.airflow.kubernetes.calls import RIGHTS, ask_again, error_text
from storebench.airflow.kubernetes.placement import with_volume
from storebench.errors import StorebenchError
from storebench.stores.volume import OPTIONS, SIZE, STORAGE_CLASS

NAME = "storebench-volume"  # in the pod
LABEL = "storebench/volume"
GROUP = 1000  # the group of the user in this project's images, who must be able to write
GONE_WITHIN_S = 120.0
POLL_INTERVAL_S = 0.5


class VolumeFailed(AirflowException, StorebenchError):
    """A volume claim that cannot be made or removed, with the cluster's reason."""


def make(
    client: k8s_client.CoreV1Api,
    namespace: str,
    claim: str,
    values: Mapping[str, Any],
    go_on: Callable[[], None],
) -> None:
    """Remove the volume claim of an earlier try, and make an empty claim. `values`: of the run's parameters. Raises VolumeFailed, and the
    error of `go_on`, which is called while waiting.
    """
    storage_class = values.get(STORAGE_CLASS)
    body = {
        "metadata": {"name": claim, "labels": {LABEL: "cell"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": values.get(SIZE) or OPTIONS[SIZE].default}},
            **({"storageClassName": storage_class} if storage_class else {}),
        },
    }
    remove(client, namespace, claim)
    deadline_s = time.monotonic() + GONE_WITHIN_S
    while True:
        try:
            ask_again(lambda: client.create_namespaced_persistent_volume_claim(namespace, body), RIGHTS)
        except (ApiException, HTTPError) as error:
            # The old claim of this name exists until its last pod is gone
            if getattr(error, "status", None) != 409 or time.monotonic() > deadline_s:
                raise VolumeFailed(f"The volume claim {claim} cannot be made: {error_text(error)}") from None
        else:
            return
        go_on()
        time.sleep(POLL_INTERVAL_S)


def remove(client: k8s_client.CoreV1Api, namespace: str, claim: str) -> None:
    """Remove a volume claim with its data. A missing claim is no error. Raises VolumeFailed."""
    try:
        ask_again(lambda: client.delete_namespaced_persistent_volume_claim(claim, namespace), RIGHTS)
    except (ApiException, HTTPError) as error:
        if getattr(error, "status", None) != 404:
            raise VolumeFailed(f"The volume claim {claim} cannot be removed: {error_text(error)}") from None


def mounted(pod: dict[str, Any], claim: str, folder: str) -> dict[str, Any]:
    """Return the pod, with the claim's volume at this folder of each container."""
    volume = {"name": NAME, "persistentVolumeClaim": {"claimName": claim}}
    mounted = with_volume(pod, volume, {"name": NAME, "mountPath": folder})
    security = {**mounted["spec"]["securityContext"], "fsGroup": GROUP}
    return {**mounted, "spec": {**mounted["spec"], "securityContext": security}}
