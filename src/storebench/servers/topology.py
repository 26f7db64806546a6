"""Topologies: the number and the kinds of servers, as Kubernetes manifests in deploy/servers/SERVER/TOPOLOGY/.

Each folder is a kustomization, so that `kubectl apply --kustomize` works, too. storebench.servers.kustomization reads the folder, and
storebench.servers.render sets the values of a run.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storebench.errors import SpecError
from storebench.servers import kustomization
from storebench.servers.fault import MAINTENANCE
from storebench.servers.kustomization import LISTING

if TYPE_CHECKING:
    from storebench.study.planned import PlannedStudy

FOLDER = "STOREBENCH_SERVERS"  # the environment variable that names another folder
CHECKOUT_SERVERS = Path(__file__).resolve().parents[3] / "deploy" / "servers"
KINDS = ("ConfigMap", "Service", "StatefulSet")  # in the order of their creation
ENTRY = "storebench/entry"  # label of the Service to which clients connect
CONNECTION = "storebench/connection"  # annotation of that Service: more fields of the connection, as JSON
SIZED = "storebench/sized"  # label of the StatefulSets that hold the data: they take a run's sizes
COPIES = "storebench/copies"  # label of the StatefulSets whose number of replicas a run may set
DATA = "storebench/data"  # annotation of pods: the folder with the data
PASSWORD_KEY = "password"  # the only key that a container may take from a Secret: the password of the set's servers, made by the run
SERVICE_CORES = "storebench/service-cores"  # annotation of pods with a service in front of the store: cores that its program can use
ALL_CORES = "all"  # value of that annotation: all cores that the container may use
READY = "storebench/ready"  # annotation of pods: a URL that answers with a success once the server is ready
# Annotations of pods: the shell command for each maintenance that the server can do, for the agent
COMMANDS = {name: f"storebench/{name}" for name in MAINTENANCE}

# Annotation of pods: the shell command that exits with 0 when all copies of the data are whole, and with 3 if the data has no copies
WHOLE = "storebench/whole"

# The registry in the names of images that nobody publishes: it never resolves (RFC 2606). A name without a registry would be looked up at a
# public registry, where anybody can own the name.
UNPUBLISHED = "storebench.invalid/"

Object = kustomization.Object


@dataclass(frozen=True)
class Topology:
    """The manifests of a number of servers. `server`: the kind of server, by the name of the connection to such a server."""

    server: str
    name: str
    objects: tuple[Object, ...]

    def __str__(self) -> str:
        return f"{self.server}/{self.name}"

    @property
    def sets(self) -> list[Object]:
        """The StatefulSets of the topology."""
        return [item for item in self.objects if item["kind"] == "StatefulSet"]

    @property
    def entry(self) -> Object:
        """The Service to which clients connect."""
        return next(item for item in self.objects if _is_entry(item))

    @property
    def containers(self) -> Iterator[Object]:
        """The containers of all servers, with those that prepare a server."""
        for item in self.sets:
            pod = item["spec"]["template"]["spec"]
            yield from [*pod["containers"], *pod.get("initContainers", [])]

    @property
    def unpublished(self) -> set[str]:
        """The names of the containers whose image nobody publishes: the image is built from the folder images/servers/NAME."""
        return {one["name"] for one in self.containers if one["image"].startswith(UNPUBLISHED)}

    @property
    def has_password(self) -> bool:
        """True if clients log in with the password that the run makes."""
        return any(True for item in self.sets for _ in secret_references(item["spec"]["template"]["spec"]))

    def commands_of(self, server: str) -> dict[str, str]:
        """Return the commands for maintenance that a server's pod declares, by the maintenance's name. `server`: such as `cassandra-1`."""
        (pod,) = (
            item["spec"]["template"]
            for item in self.sets
            if item["metadata"]["name"] == server.rpartition("-")[0]
        )
        return commands(pod.get("metadata", {}).get("annotations", {}))

    def connection(self, host: str) -> dict[str, Any]:
        """Return the connection to the servers at `host`, in the form that pods read (storebench.connection), without the password.

        Texts in the entry's annotation that are names of objects become the names that the run gives these objects.
        """
        meta = self.entry["metadata"]
        ending = host.removeprefix(meta["name"])
        names = {item["metadata"]["name"]: f"{item['metadata']['name']}{ending}" for item in self.objects}

        def renamed(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: renamed(inner) for key, inner in value.items()}
            return names.get(value, value) if isinstance(value, str) and ending != host else value

        more = renamed(json.loads(meta.get("annotations", {}).get(CONNECTION, "{}")))
        return {"host": host, "port": self.entry["spec"]["ports"][0]["port"], **more}


def secret_references(pod: Object) -> Iterator[Object]:
    """Yield the references to Secrets in the containers of a pod's spec: each has a `name` and a `key`."""
    for container in [*(pod.get("initContainers") or []), *(pod.get("containers") or [])]:
        for variable in container.get("env", []):
            if reference := variable.get("valueFrom", {}).get("secretKeyRef"):
                yield reference


def commands(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the commands for maintenance that a pod's annotations declare, by the maintenance's name."""
    return {name: annotations[place] for name, place in COMMANDS.items() if place in annotations}


def service_cores(text: str) -> float | None:
    """Read the annotation SERVICE_CORES: cores, or None for all cores that the container may use. Raises ValueError for other values."""
    if text == ALL_CORES:
        return None
    cores = float(text)
    if not 0 < cores < float("inf"):
        raise ValueError(text)
    return cores


def folder() -> Path:
    """Return the folder of the topologies."""
    return Path(os.environ.get(FOLDER) or CHECKOUT_SERVERS)


def names(server: str) -> list[str]:
    """Return the names of this server's topologies."""
    return sorted(path.parent.name for path in (folder() / server).glob(f"*/{LISTING}"))


def provisioned_for(study: PlannedStudy) -> list[str]:
    """Return the names of the study's stores with each of their topologies: `mongodb@one`, `delta-spark@hdfs_one`."""
    stores = []
    for name in study.store_names:
        store = study.store(name)
        native = [(store.connection or "", "")] if store.has_server() and store.provisions else []
        servers = [*native, *((other, f"{other}_") for other in store.elsewhere)]
        stores += [f"{name}@{prefix}{topology}" for server, prefix in servers for topology in names(server)]
    return stores


def find(server: str, name: str) -> Topology:
    """Return the topology of this name. Raises SpecError where it does not exist or cannot be used."""
    path = folder() / server / name
    if not (path / LISTING).is_file():
        known = ", ".join(names(server)) or "none"
        raise SpecError(f"There is no topology {server}/{name} in {folder()}. Of {server} there are: {known}")
    topology = Topology(server, name, tuple(kustomization.objects(path)))
    if wrong := "; ".join(_problems(topology)):
        raise SpecError(f"The topology {topology} in {path} cannot be used: {wrong}")
    return topology


def _is_entry(item: Object) -> bool:
    return item["kind"] == "Service" and ENTRY in item["metadata"].get("labels", {})


def _problems(topology: Topology) -> Iterator[str]:
    for item in topology.objects:
        if item.get("kind") not in KINDS or not item.get("metadata", {}).get("name"):
            yield f"{item.get('kind')!r} is no kind that a run makes: {', '.join(KINDS)}, each with a name"
            return
    counts = Counter(f"{item['kind']} {item['metadata']['name']}" for item in topology.objects)
    for name, count in counts.items():
        if count > 1:
            yield f"{name} is listed {count} times"
    entries = [item for item in topology.objects if _is_entry(item)]
    if len(entries) != 1:
        yield f"one Service must have the label {ENTRY}, and {len(entries)} have it"
    elif text := entries[0]["metadata"].get("annotations", {}).get(CONNECTION):
        try:
            if not isinstance(json.loads(text), dict):
                yield f"the annotation {CONNECTION} is no object of JSON"
        except ValueError as error:
            yield f"the annotation {CONNECTION} is not JSON: {error}"
    if not topology.sets:
        yield "there is no StatefulSet"
    for item in topology.sets:
        name, template = item["metadata"]["name"], item["spec"].get("template", {})
        containers = template.get("spec", {}).get("containers") or [{}]
        if not containers[0].get("command"):
            yield f"the first container of {name} has no command: the entry point of an image cannot be measured"
        resources: Mapping[str, Any] = containers[0].get("resources", {})
        if not {"cpu", "memory"} <= set(resources.get("requests", {})):
            yield f"the first container of {name} does not request cpu and memory"
        annotations = template.get("metadata", {}).get("annotations", {})
        if DATA not in annotations and SIZED in item["metadata"].get("labels", {}):
            yield f"the pods of {name} have no annotation {DATA}"
        references = secret_references(template.get("spec", {}))
        if keys := {reference["key"] for reference in references} - {PASSWORD_KEY}:
            yield (
                f"{name} takes {', '.join(sorted(keys))} from a Secret: a run makes one with the key {PASSWORD_KEY} and no other"
            )
        try:
            service_cores(annotations.get(SERVICE_CORES, ALL_CORES))
        except (TypeError, ValueError):
            yield (
                f"the annotation {SERVICE_CORES} of the pods of {name} must be a text with a number of cores, or {ALL_CORES!r}"
            )
