"""Check that a cluster has nodes and storage classes for a run's servers before the servers are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kubernetes import client as k8s_client
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException
from kubernetes.utils.quantity import parse_quantity

from storebench.servers.topology import Object

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
GIB = 2**30


@dataclass(frozen=True)
class Need:
    """The request of a pod. `what`: the pod in words; `cpu`: cores; `memory`: bytes."""

    what: str
    cpu: Decimal
    memory: Decimal

    def __str__(self) -> str:
        return f"{self.what} ({_figures(self.cpu, self.memory)})"


def needs_of(objects: Sequence[Object], client: Need) -> list[Need]:
    """Return the requests of the servers' pods and of the client's pod."""
    needs = [client]
    for item in objects:
        if item["kind"] == "StatefulSet":
            containers = item["spec"]["template"]["spec"]["containers"]
            requests = [container.get("resources", {}).get("requests", {}) for container in containers]
            cpu, memory = (
                sum((parse_quantity(request.get(resource, 0)) for request in requests), Decimal())
                for resource in ("cpu", "memory")
            )
            name = item["metadata"]["name"]
            needs += [
                Need(f"{name}-{index}", cpu, memory) for index in range(item["spec"].get("replicas", 1))
            ]
    return needs


def volumes_of(objects: Sequence[Object]) -> int:
    """Return the bytes that the volumes of all servers request together."""
    total_bytes = Decimal()
    for item in objects:
        if item["kind"] == "StatefulSet":
            claims = item["spec"].get("volumeClaimTemplates", [])
            sizes = [parse_quantity(claim["spec"]["resources"]["requests"]["storage"]) for claim in claims]
            total_bytes += sum(sizes, Decimal()) * item["spec"].get("replicas", 1)
    return int(total_bytes)


def lacking(
    core: k8s_client.CoreV1Api,
    storage: k8s_client.StorageV1Api,
    objects: Sequence[Object],
    needs: Sequence[Need],
    pod: Mapping[str, Any],
    ask: Callable[[Callable[[], Any]], Any],
) -> str | None:
    """Return what the cluster lacks for these pods, in words; None if it lacks nothing. `pod`: the fields of a pod's spec that place it.

    Also returns None where the account may not read nodes and storage classes: then the scheduler finds out when the pods are made. The
    check ignores the requests of other pods on the nodes.
    """
    try:
        nodes = ask(core.list_node).items
        classes = ask(storage.list_storage_class).items
    except ApiException as error:
        if error.status in (401, 403):
            return None
        raise
    admitting = [node for node in nodes if _takes(node, pod)]
    problems = [*_classes_lacking(objects, classes), *_room_lacking(admitting, needs)]
    return "; ".join(dict.fromkeys(problems)) or None


def _classes_lacking(objects: Sequence[Object], classes: Sequence[k8s.V1StorageClass]) -> Iterator[str]:
    names = {storage_class.metadata.name for storage_class in classes}
    default = any((item.metadata.annotations or {}).get(DEFAULT_CLASS) == "true" for item in classes)
    for item in objects:
        for claim in item["spec"].get("volumeClaimTemplates", []) if item["kind"] == "StatefulSet" else []:
            requested = claim["spec"].get("storageClassName")
            listed = ", ".join(sorted(names)) or "none"
            if requested and requested not in names:
                yield f"the cluster has no storage class {requested!r}. It has {listed}"
            elif not requested and not default:
                yield (
                    "the cluster has no default storage class. Name one by the parameter server_storage_class: there are"
                    f" {listed}"
                )


def _room_lacking(nodes: Sequence[k8s.V1Node], needs: Sequence[Need]) -> Iterator[str]:
    """Yield why the pods do not fit on the nodes. Places the largest pod first, on the node with the most room, which may miss odd fits."""
    if not nodes:
        yield "no node takes these pods: the Kubernetes connection's node_selector and tolerations fit none"
        return
    room = [[parse_quantity(node.status.allocatable[name]) for name in ("memory", "cpu")] for node in nodes]
    for need in sorted(needs, key=lambda need: (need.memory, need.cpu), reverse=True):
        room.sort(reverse=True)
        place = next((free for free in room if free[0] >= need.memory and free[1] >= need.cpu), None)
        if place is None:
            memory = sum((request.memory for request in needs), Decimal())
            cpu = sum((request.cpu for request in needs), Decimal())
            largest = ", ".join(
                f"{node.metadata.name}: {_figures(*(parse_quantity(node.status.allocatable[name]) for name in ('cpu', 'memory')))}"
                for node in nodes[:5]
            )
            yield (
                f"there is no room for {need}. The servers and the client's pod need {_figures(cpu, memory)} together. The nodes"
                f" have {largest}{' and others' if len(nodes) > 5 else ''}"
            )
            return
        place[0] -= need.memory
        place[1] -= need.cpu


def _takes(node: k8s.V1Node, pod: Mapping[str, Any]) -> bool:
    """Return whether the node's labels and taints admit the pod."""
    labels, spec = node.metadata.labels or {}, node.spec
    if any(labels.get(name) != value for name, value in pod.get("nodeSelector", {}).items()):
        return False
    taints = [taint for taint in spec.taints or [] if taint.effect in ("NoSchedule", "NoExecute")]
    return not spec.unschedulable and all(
        any(_tolerates(toleration, taint) for toleration in pod.get("tolerations", [])) for taint in taints
    )


def _tolerates(toleration: Mapping[str, Any], taint: k8s.V1Taint) -> bool:
    if (
        toleration.get("effect", taint.effect) != taint.effect
        or toleration.get("key", taint.key) != taint.key
    ):
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == (taint.value or "")


def _figures(cpu: Decimal, memory: Decimal) -> str:
    return f"{float(cpu):.3g} cores, {float(memory) / GIB:.3g} GiB"
