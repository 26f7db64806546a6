"""The objects of a topology as one run makes them: names and labels of their own, sizes, images, a place, and the agent in each server."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from storebench.servers.agent import PORT
from storebench.servers.sizes import Sizes
from storebench.servers.topology import COPIES, DATA, READY, SIZED, Object, Topology
from storebench.servers.watch import TOKEN

LABEL = "storebench/servers"  # on all objects of a set of servers, and its pods; no other set has its value
MANAGED = {"app.kubernetes.io/managed-by": "storebench"}
AGENT_VOLUME, AGENT_FOLDER = "storebench-agent", "/storebench"
TOKEN_KEY = "token"  # of the Secret
_CONFINED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


@dataclass(frozen=True)
class Place:
    """A deployment's settings for pods: fields of the pod's spec, labels, annotations, and images.

    `image_of` gives the image that takes the place of a manifest's for the container of that name, if one does. Without an
    `agent` image, what servers use is not measured.
    """

    spec: Mapping[str, Any] = field(default_factory=dict)
    image_of: Callable[[str], str | None] = lambda container: None
    agent: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


def set_id(run_id: str, key: str) -> str:
    """Return the id of a run's set of servers: ten characters that are valid in names of Kubernetes objects."""
    return hashlib.sha256(f"{run_id}\n{key}".encode()).hexdigest()[:10]


def secret_of(set_id: str) -> str:
    """The Secret with the agents' token."""
    return f"storebench-servers-{set_id}"


def host_of(topology: Topology, set_id: str) -> str:
    """Return the host name of a set of servers for clients in the same namespace."""
    return f"{topology.entry['metadata']['name']}-{set_id}"


def rendered(topology: Topology, set_id: str, sizes: Sizes, place: Place) -> list[Object]:
    """The objects to make. Where a name of one of them is the whole value of an environment variable, or a reference, it is the new one."""
    names = {one["metadata"]["name"]: f"{one['metadata']['name']}-{set_id}" for one in topology.objects}
    found = []
    for original in topology.objects:
        one = copy.deepcopy(original)
        meta = one["metadata"]
        meta["name"] = names[meta["name"]]
        meta.pop("namespace", None)
        meta["labels"] = {**meta.get("labels", {}), **MANAGED, LABEL: set_id}
        if one["kind"] == "Service":
            one["spec"]["selector"] = {**one["spec"]["selector"], LABEL: set_id}
        if one["kind"] == "StatefulSet":
            _render_set(one, set_id, names, sizes, place)
        found.append(one)
    return found


def limited_sets(topology: Topology, set_id: str, sizes: Sizes) -> set[str]:
    """Return the names of the StatefulSets whose servers have a CPU limit."""
    return {
        one["metadata"]["name"]
        for one in rendered(topology, set_id, sizes, Place())
        if one["kind"] == "StatefulSet"
        and "cpu" in one["spec"]["template"]["spec"]["containers"][0]["resources"].get("limits", {})
    }


def fingerprint(topology: Topology, sizes: Sizes) -> str:
    """Changes where what runs changes, and not from run to run."""
    text = json.dumps([topology.objects, str(sizes)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _render_set(one: Object, set_id: str, names: Mapping[str, str], sizes: Sizes, place: Place) -> None:
    spec, labels = one["spec"], one["metadata"]["labels"]
    template = spec["template"]
    spec["serviceName"] = names.get(spec["serviceName"], spec["serviceName"])
    spec["selector"]["matchLabels"] = {**spec["selector"]["matchLabels"], LABEL: set_id}
    meta = template.setdefault("metadata", {})
    meta["labels"] = {**place.labels, **meta.get("labels", {}), **MANAGED, LABEL: set_id}
    told = meta.get("annotations", {})
    meta["annotations"] = {**place.annotations, **told}
    pod = template["spec"]
    pod.update(copy.deepcopy(dict(place.spec)))
    _own_set_only(pod, set_id)
    for volume in pod.get("volumes", []):
        if "configMap" in volume:
            volume["configMap"]["name"] = names.get(volume["configMap"]["name"], volume["configMap"]["name"])
    for container in [*pod.get("initContainers", []), *pod["containers"]]:
        container["image"] = place.image_of(container["name"]) or container["image"]
        container.setdefault("imagePullPolicy", "IfNotPresent")
        container["terminationMessagePolicy"] = "FallbackToLogsOnError"
        for variable in container.get("env", []):
            if "value" in variable:
                variable["value"] = names.get(variable["value"], variable["value"])
    for claim in spec.get("volumeClaimTemplates", []):
        claim["metadata"]["labels"] = {**claim["metadata"].get("labels", {}), **MANAGED, LABEL: set_id}
        if sizes.storage_class:
            claim["spec"]["storageClassName"] = sizes.storage_class
    if SIZED in labels:
        _resize(spec, pod["containers"][0], sizes, copies=COPIES in labels)
    if place.agent:
        _watch(pod, told, set_id, place.agent)


def _own_set_only(pod: Object, set_id: str) -> None:
    """Servers keep away from each other, not from those of another run that have the same labels."""
    affinity = pod.setdefault("affinity", {}).setdefault("podAntiAffinity", {})
    for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution", []):
        term["podAffinityTerm"]["labelSelector"]["matchLabels"][LABEL] = set_id
    for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution", []):
        term["labelSelector"]["matchLabels"][LABEL] = set_id


def _resize(spec: Object, container: Object, sizes: Sizes, *, copies: bool) -> None:
    requests = container["resources"]["requests"]
    limits = container["resources"].setdefault("limits", {})
    if sizes.cpu:
        requests["cpu"] = limits["cpu"] = sizes.cpu
    if sizes.memory:
        requests["memory"] = limits["memory"] = sizes.memory
    if sizes.disk:
        for claim in spec.get("volumeClaimTemplates", []):
            claim["spec"]["resources"]["requests"]["storage"] = sizes.disk
    if sizes.copies and copies:
        spec["replicas"] = sizes.copies


def _watch(pod: Object, annotations: Mapping[str, str], set_id: str, image: str) -> None:
    """The agent becomes the entry of the server's container. An init container brings it, so that the image stays as it is."""
    mount = {"name": AGENT_VOLUME, "mountPath": AGENT_FOLDER}
    program = f"{AGENT_FOLDER}/agent"
    pod.setdefault("volumes", []).append({"name": AGENT_VOLUME, "emptyDir": {}})
    pod.setdefault("initContainers", []).insert(
        0,
        {
            "name": "agent",
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "command": ["/agent", "install", program],
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "resources": {name: {"cpu": "50m", "memory": "32Mi"} for name in ("requests", "limits")},
            "securityContext": dict(_CONFINED),
            "volumeMounts": [mount],
        },
    )
    server = pod["containers"][0]
    server["command"] = [program, "--", *server["command"], *server.pop("args", [])]
    server.setdefault("volumeMounts", []).append({**mount, "readOnly": True})
    server.setdefault("ports", []).append({"name": "agent", "containerPort": PORT})
    told = {"STOREBENCH_AGENT_DATA": annotations.get(DATA), "STOREBENCH_AGENT_READY": annotations.get(READY)}
    token = {"secretKeyRef": {"name": secret_of(set_id), "key": TOKEN_KEY}}
    server.setdefault("env", []).extend(
        [
            {"name": TOKEN, "valueFrom": token},
            *({"name": name, "value": value} for name, value in told.items() if value),
        ]
    )
