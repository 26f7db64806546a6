"""The variables of a Spark driver's pod, in addition to the variables of each pod."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from airflow.sdk import Variable
from kubernetes.client import models as k8s

from storebench.spark import session


def own_pod(image: str, executor: Mapping[str, Any]) -> list[k8s.V1EnvVar]:
    """Return the variables with a pod's own name and address and with its executors' pods, for storebench.spark.session."""
    fields = {
        session.POD_NAME: "metadata.name",
        session.POD_IP: "status.podIP",
        session.POD_NAMESPACE: "metadata.namespace",
    }
    variables = [
        k8s.V1EnvVar(
            name=name,
            value_from=k8s.V1EnvVarSource(field_ref=k8s.V1ObjectFieldSelector(field_path=path)),
        )
        for name, path in fields.items()
    ]
    variables.append(k8s.V1EnvVar(name=session.IMAGE, value=image))
    variables.append(k8s.V1EnvVar(name=session.EXECUTOR_POD, value=json.dumps(executor)))
    if api := Variable.get("storebench_kubernetes_api", default=None):
        variables.append(k8s.V1EnvVar(name=session.API, value=api))
    return variables
