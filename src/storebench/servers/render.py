"""Render a topology's objects for a run: own names and labels, sizes, images, placement, and the agent in each server."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from storebench.servers.agent import PORT
from storebench.servers.sizes import Sizes
from storebench.servers.topology import (
    COPIES,
    DATA,
    READY,
    SIZED,
    WHOLE,
    Object,
    Topology,
    commands,
    secret_references,
)
from storebench.servers.watch import TOKEN

# Labels whose value is the id of a set of servers.
LABEL = "storebench/servers"  # on all objects and pods of the set
CLIENT = "storebench/client-of"  # on the pods of attempts at the set
MANAGED = {"app.kubernetes.io/managed-by": "storebench"}
AGENT_VOLUME, AGENT_FOLDER = "storebench-agent", "/storebench"
AGENT_PROGRAM, AGENT_MOUNT = f"{AGENT_FOLDER}/agent", {"name": AGENT_VOLUME, "mountPath": AGENT_FOLDER}
TOKEN_KEY = "token"  # the agents' token, in the Secret of a set
_CONFINED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
_RESOURCES = {name: {"cpu": "50m", "memory": "32Mi"} for name in ("requests", "limits")}


@dataclass(frozen=True)
class Place:
    """A deployment's settings for pods: fields of the pod's spec, labels, annotations, and images.

    `image_of` returns the image that replaces the manifest's for the container of that name, or None. Without an `agent` image, the
    servers' CPU and memory are not measured.
    """

    spec: Mapping[str, Any] = field(default_factory=dict)
    image_of: Callable[[str], str | None] = lambda container: None
    agent: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


def set_id(run_id: str, key: str) -> str:
    """Return the id of a run's set of servers: ten characters that are valid in names of Kubernetes objects."""
    return hashlib.sha256(f"{run_id}\n{key}".encode()).hexdigest()[:10]


def access_name(set_id: str) -> str:
    """Return the name of the two objects that say who may use the servers: a Secret and a NetworkPolicy."""
    return f"storebench-servers-{set_id}"


def policy_of(set_id: str) -> Object:
    """Return the NetworkPolicy of a set of servers. The servers admit only each other and the pods of attempts at this set, in the same
    namespace, at any port.
    """
    admitted = [{"podSelector": {"matchLabels": {label: set_id}}} for label in (LABEL, CLIENT)]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": access_name(set_id), "labels": {**MANAGED, LABEL: set_id}},
        "spec": {
            "podSelector": {"matchLabels": {LABEL: set_id}},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": admitted}],
        },
    }


def host_of(topology: Topology, set_id: str) -> str:
    """Return the host name of a set of servers for clients in the same namespace."""
    return f"{topology.entry['metadata']['name']}-{set_id}"


def rendered(
    topology: Topology, set_id: str, sizes: Sizes, place: Place, *, cut_off: str = ""
) -> list[Object]:
    """Return the objects to make, with new names. References to an object, and variables whose value is its name, get the new name.

    `cut_off`: the server that a partition cuts off, such as `cassandra-1`. The pods of its StatefulSet get a container that may change the pod's network.
    """
    old_names = [original["metadata"]["name"] for original in topology.objects]
    names = {name: f"{name}-{set_id}" for name in old_names}
    objects = []
    for original in topology.objects:
        item = copy.deepcopy(original)
        meta = item["metadata"]
        meta["name"] = names[meta["name"]]
        meta.pop("namespace", None)
        meta["labels"] = {**meta.get("labels", {}), **MANAGED, LABEL: set_id}
        if item["kind"] == "Service":
            item["spec"]["selector"] = {**item["spec"]["selector"], LABEL: set_id}
        if item["kind"] == "StatefulSet":
            _render_set(item, set_id, names, sizes, place)
            if place.agent and cut_off.rpartition("-")[0] == original["metadata"]["name"]:
                item["spec"]["template"]["spec"]["containers"].append(_network_changer(place.agent))
        objects.append(item)
    return objects


def limited_sets(topology: Topology, set_id: str, sizes: Sizes) -> set[str]:
    """Return the names of the StatefulSets whose servers have a CPU limit."""
    return {
        item["metadata"]["name"]
        for item in rendered(topology, set_id, sizes, Place())
        if item["kind"] == "StatefulSet"
        and "cpu" in item["spec"]["template"]["spec"]["containers"][0]["resources"].get("limits", {})
    }


def servers_of(topology: Topology, sizes: Sizes, *, holding: bool = False) -> list[str]:
    """Return the names of a topology's servers: the StatefulSet's name with the server's number, such as `cassandra-1`.

    `holding`: only the servers that hold data.
    """
    sets = [item for item in rendered(topology, "", sizes, Place()) if item["kind"] == "StatefulSet"]
    return [
        f"{item['metadata']['name']}{number}"  # the name ends with the hyphen before an empty id
        for item in sets
        if not holding or SIZED in item["metadata"]["labels"]
        for number in range(item["spec"].get("replicas", 1))
    ]


def fingerprint(topology: Topology, sizes: Sizes) -> str:
    """Return a hash of the manifests and sizes: the same in all runs with the same servers."""
    text = json.dumps([topology.objects, str(sizes)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _render_set(
    stateful_set: Object, set_id: str, names: Mapping[str, str], sizes: Sizes, place: Place
) -> None:
    spec, labels = stateful_set["spec"], stateful_set["metadata"]["labels"]
    template = spec["template"]
    spec["serviceName"] = names.get(spec["serviceName"], spec["serviceName"])
    spec["selector"]["matchLabels"] = {**spec["selector"]["matchLabels"], LABEL: set_id}
    meta = template.setdefault("metadata", {})
    meta["labels"] = {**place.labels, **meta.get("labels", {}), **MANAGED, LABEL: set_id}
    annotations = meta.get("annotations", {})
    meta["annotations"] = {**place.annotations, **annotations}
    pod = template["spec"]
    pod.update(copy.deepcopy(dict(place.spec)))
    _restrict_affinity(pod, set_id)
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
    for reference in secret_references(pod):
        reference["name"] = access_name(set_id)
    for claim in spec.get("volumeClaimTemplates", []):
        claim["metadata"]["labels"] = {**claim["metadata"].get("labels", {}), **MANAGED, LABEL: set_id}
        if sizes.storage_class:
            claim["spec"]["storageClassName"] = sizes.storage_class
    if SIZED in labels:
        _resize(spec, pod["containers"][0], sizes, copies=COPIES in labels)
    if place.agent:
        _watch(pod, annotations, set_id, place.agent)


def _restrict_affinity(pod: Object, set_id: str) -> None:
    """Restrict the pod's anti-affinity to servers of its own set: servers of other runs have the same labels."""
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


def agent_installer(image: str) -> Object:
    """Return the init container that copies the agent into the pod's volume for it."""
    return {
        "name": "agent",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/agent", "install", AGENT_PROGRAM],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": copy.deepcopy(_RESOURCES),
        "securityContext": dict(_CONFINED),
        "volumeMounts": [dict(AGENT_MOUNT)],
    }


def _network_changer(image: str) -> Object:
    """Return the container that cuts off its pod when the agent asks. Its user is root, because Kubernetes gives a capability only to root."""
    return {
        "name": "network",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/agent", "network", str(PORT)],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": copy.deepcopy(_RESOURCES),
        "securityContext": {
            **_CONFINED,
            "capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]},
            "runAsNonRoot": False,
            "runAsUser": 0,
        },
    }


def _watch(pod: Object, annotations: Mapping[str, str], set_id: str, image: str) -> None:
    """Make the agent the entry point of the server's container. An init container installs the agent, so that the image stays unchanged."""
    pod.setdefault("volumes", []).append({"name": AGENT_VOLUME, "emptyDir": {}})
    pod.setdefault("initContainers", []).insert(0, agent_installer(image))
    server = pod["containers"][0]
    server["command"] = [AGENT_PROGRAM, "--", *server["command"], *server.pop("args", [])]
    server.setdefault("volumeMounts", []).append({**AGENT_MOUNT, "readOnly": True})
    server.setdefault("ports", []).append({"name": "agent", "containerPort": PORT})
    values = {
        "STOREBENCH_AGENT_DATA": annotations.get(DATA),
        "STOREBENCH_AGENT_READY": annotations.get(READY),
        "STOREBENCH_AGENT_WHOLE": annotations.get(WHOLE),
        **{f"STOREBENCH_AGENT_COMMAND_{name.upper()}": one for name, one in commands(annotations).items()},
    }
    token = {"secretKeyRef": {"name": access_name(set_id), "key": TOKEN_KEY}}
    server.setdefault("env", []).extend(
        [
            {"name": TOKEN, "valueFrom": token},
            *({"name": name, "value": value} for name, value in values.items() if value),
        ]
    )
