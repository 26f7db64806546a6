"""The placement and the permissions of pods: one template for the pods of attempts and for the pods that these start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from storebench.errors import SpecError
from storebench.servers.render import AGENT_MOUNT, AGENT_VOLUME, CLIENT, agent_installer
from storebench.servers.render import LABEL as SERVERS

# In the extra of the Kubernetes connection: {"pods": {"node_selector": ..., ...}}
EXTRA = "pods"
LABEL = "storebench/attempt"
HOST = "kubernetes.io/hostname"


@dataclass(frozen=True)
class Placement:
    """A deployment's settings for all pods of one Kubernetes connection. The fields are Kubernetes' own, in snake case."""

    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    priority_class_name: str | None = None
    image_pull_secrets: tuple[str, ...] = ()  # their names
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_extra(cls, extra: Mapping[str, Any]) -> Placement:
        """Return the placement that a connection's extra has under EXTRA. Raises SpecError for an invalid placement."""
        settings = extra.get(EXTRA) or {}
        if isinstance(settings, str):  # typed into a form
            try:
                settings = json.loads(settings)
            except (ValueError, RecursionError) as error:
                raise _wrong(f"is not JSON: {error}") from None
        if not isinstance(settings, dict):
            raise _wrong(f"must be an object, not {settings!r}")
        if unknown := set(settings) - set(cls.__dataclass_fields__):
            raise _wrong(
                f"has unknown names: {', '.join(sorted(unknown))}. There are {', '.join(cls.__dataclass_fields__)}"
            )
        tolerations, pull_secrets = settings.get("tolerations", []), settings.get("image_pull_secrets", [])
        texts = {name: settings.get(name, {}) for name in ("node_selector", "labels", "annotations")}
        for name, items in texts.items():
            if not isinstance(items, dict) or not all(isinstance(value, str) for value in items.values()):
                raise _wrong(f'needs texts in {name}, such as {{"pool": "bench", "dedicated": "true"}}')
        if not isinstance(tolerations, list) or not all(isinstance(item, dict) for item in tolerations):
            raise _wrong("needs a list of objects as tolerations")
        if not isinstance(pull_secrets, list) or not all(isinstance(item, str) for item in pull_secrets):
            raise _wrong("needs a list of names as image_pull_secrets")
        return cls(
            tolerations=tuple(tolerations),
            priority_class_name=settings.get("priority_class_name"),
            image_pull_secrets=tuple(pull_secrets),
            **texts,
        )

    def node_spec(self) -> dict[str, Any]:
        """Return the fields of a pod's spec that decide where the pod runs."""
        return {
            "nodeSelector": dict(self.node_selector),
            "tolerations": [dict(toleration) for toleration in self.tolerations],
            **({"priorityClassName": self.priority_class_name} if self.priority_class_name else {}),
            "imagePullSecrets": [{"name": name} for name in self.image_pull_secrets],
        }

    def template(self, attempt: str, container: str, servers: str | None = None) -> dict[str, Any]:
        """Return an attempt's pod as an object of Kubernetes' API. `attempt`: the value of a label that only this attempt's pods have.

        The pod passes the Pod Security Standard "restricted". It avoids nodes with provisioned servers if other nodes are free. A node
        takes the pods of only one attempt at a time, and several pods of the attempt only where there are too few nodes. `servers`: the
        id of the set of servers that the run has provisioned for the attempt. These servers admit the pod.
        """
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "labels": {**self.labels, LABEL: attempt, **({CLIENT: servers} if servers else {})},
                **({"annotations": dict(self.annotations)} if self.annotations else {}),
            },
            "spec": {
                **self.node_spec(),
                "automountServiceAccountToken": False,
                "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
                "affinity": {"podAntiAffinity": _apart(attempt)},
                "volumes": [{"name": "tmp", "emptyDir": {}}],
                "containers": [
                    {
                        "name": container,
                        "terminationMessagePolicy": "FallbackToLogsOnError",
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "capabilities": {"drop": ["ALL"]},
                            "readOnlyRootFilesystem": True,
                        },
                        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
                    }
                ],
            },
        }


def with_secret(pod: dict[str, Any], secret: str, folder: str) -> dict[str, Any]:
    """Return the pod, with the contents of a Secret as files in this folder of each container."""
    volume = {"name": secret, "secret": {"secretName": secret}}
    mount = {"name": secret, "mountPath": folder, "readOnly": True}
    return with_volume(pod, volume, mount)


def with_shared_memory(pod: dict[str, Any]) -> dict[str, Any]:
    """Return the pod, with a /dev/shm up to the memory limit of its containers: its use counts as memory."""
    volume = {"name": "shared-memory", "emptyDir": {"medium": "Memory"}}
    mount = {"name": "shared-memory", "mountPath": "/dev/shm"}
    return with_volume(pod, volume, mount)


def with_agent(pod: dict[str, Any], image: str) -> dict[str, Any]:
    """Return the pod, with this image's agent as a program that the pod's containers can start."""
    volume, mount = {"name": AGENT_VOLUME, "emptyDir": {}}, {**AGENT_MOUNT, "readOnly": True}
    mounted = with_volume(pod, volume, mount)
    return {**mounted, "spec": {**mounted["spec"], "initContainers": [agent_installer(image)]}}


def with_volume(pod: dict[str, Any], volume: dict[str, Any], mount: dict[str, Any]) -> dict[str, Any]:
    """Return the pod, with this volume and this mount in each container."""
    containers = [
        {**container, "volumeMounts": [*container["volumeMounts"], mount]}
        for container in pod["spec"]["containers"]
    ]
    spec = {**pod["spec"], "volumes": [*pod["spec"]["volumes"], volume], "containers": containers}
    return {**pod, "spec": spec}


def _apart(attempt: str) -> dict[str, Any]:
    def pods(*conditions: dict[str, Any]) -> dict[str, Any]:
        return {"topologyKey": HOST, "labelSelector": {"matchExpressions": list(conditions)}}

    others = pods(
        {"key": LABEL, "operator": "Exists"}, {"key": LABEL, "operator": "NotIn", "values": [attempt]}
    )
    same = pods({"key": LABEL, "operator": "In", "values": [attempt]})
    servers = pods({"key": SERVERS, "operator": "Exists"})  # provisioned by a run
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": [others],
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "podAffinityTerm": servers},
            {"weight": 50, "podAffinityTerm": same},
        ],
    }


def _wrong(problem: str) -> SpecError:
    return SpecError(f"The extra {EXTRA!r} of the Kubernetes connection {problem}")
