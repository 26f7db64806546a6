"""Topologies: how many servers of which kind, as Kubernetes manifests in deploy/servers/SERVER/TOPOLOGY/.

`kubectl apply --kustomize` applies such a folder, too. So it is a kustomization, but one that only lists plain manifests: Airflow's image
has no kustomize. What a run sets, storebench.servers.render puts into the objects.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from storebench.errors import SpecError

if TYPE_CHECKING:
    from storebench.study.model import Study

FOLDER = "STOREBENCH_SERVERS"  # the environment variable that names another folder
CHECKOUT_SERVERS = Path(__file__).resolve().parents[3] / "deploy" / "servers"
LISTING = "kustomization.yaml"
LISTED = {"apiVersion", "kind", "namespace", "resources"}  # all that it may say
KINDS = ("ConfigMap", "Service", "StatefulSet")  # in the order in which they are made
ENTRY = "storebench/entry"  # label of the Service to which clients connect
CONNECTION = "storebench/connection"  # annotation of it: more of the connection, as JSON
SIZED = "storebench/sized"  # label of the StatefulSets that take a run's sizes: those that hold the data
COPIES = "storebench/copies"  # label of those that may have another number of copies
DATA = "storebench/data"  # annotation of pods: the folder with the data
SERVICE_CORES = "storebench/service-cores"  # annotation of pods with a service in front of the store: cores that its program can use
ALL_CORES = "all"  # value of that annotation: as many as the container may use
READY = "storebench/ready"  # annotation of pods: what answers with a success once the server does, a URL

Object = dict[str, Any]


@dataclass(frozen=True)
class Topology:
    """`server` is what it is of: the name of the connection to such servers."""

    server: str
    name: str
    objects: tuple[Object, ...]

    def __str__(self) -> str:
        return f"{self.server}/{self.name}"

    @property
    def sets(self) -> list[Object]:
        """The StatefulSets."""
        return [one for one in self.objects if one["kind"] == "StatefulSet"]

    @property
    def entry(self) -> Object:
        """The Service to which clients connect."""
        return next(one for one in self.objects if _is_entry(one))

    def connection(self, host: str) -> dict[str, Any]:
        """How clients connect to it at `host`, as pods get it (storebench.connection). A text in the entry's annotation that is the name
        of an object is the name that the run gives it."""
        meta = self.entry["metadata"]
        ending = host.removeprefix(meta["name"])
        names = {one["metadata"]["name"]: f"{one['metadata']['name']}{ending}" for one in self.objects}

        def renamed(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: renamed(one) for key, one in value.items()}
            return names.get(value, value) if isinstance(value, str) and ending != host else value

        more = renamed(json.loads(meta.get("annotations", {}).get(CONNECTION, "{}")))
        return {"host": host, "port": self.entry["spec"]["ports"][0]["port"], **more}


def service_cores(text: str) -> float | None:
    """Read the annotation SERVICE_CORES: cores, or None for all that the container may use. Raises ValueError for other values."""
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
    """The topologies that there are of this server."""
    return sorted(path.parent.name for path in (folder() / server).glob(f"*/{LISTING}"))


def brought_for(study: Study) -> list[str]:
    """The names of the study's stores with each of their topologies: `mongodb@one`, `delta-spark@hdfs_one`."""
    found = []
    for name in study.stores:
        store = study.store(name)
        own = [(store.connection or "", "")] if store.has_server() else []
        servers = [*own, *((other, f"{other}_") for other in store.elsewhere)]
        found += [f"{name}@{before}{one}" for server, before in servers for one in names(server)]
    return found


def find(server: str, name: str) -> Topology:
    """Raises SpecError where there is none of that name, or one that cannot be used."""
    path = folder() / server / name
    if not (path / LISTING).is_file():
        there = ", ".join(names(server)) or "none"
        raise SpecError(f"There is no topology {server}/{name} in {folder()}. Of {server} there are: {there}")
    topology = Topology(server, name, tuple(_objects(path)))
    if wrong := "; ".join(_problems(topology)):
        raise SpecError(f"The topology {topology} in {path} cannot be used: {wrong}")
    return topology


def _objects(path: Path) -> Iterator[Object]:
    listing = next(iter(_documents(path / LISTING)), {})
    if more := sorted(set(listing) - LISTED):
        raise SpecError(
            f"{path / LISTING} has {', '.join(more)}. A run reads the manifests as they are: only"
            f" {', '.join(sorted(LISTED))} may be there"
        )
    for name in listing.get("resources") or []:
        if not (path / name).is_file():
            raise SpecError(f"{path / LISTING} lists {name}, which is not there")
        yield from _documents(path / name)


def _documents(path: Path) -> list[Object]:
    try:
        found = [one for one in yaml.safe_load_all(path.read_text()) if one is not None]
    except (OSError, yaml.YAMLError) as error:
        raise SpecError(f"{path} cannot be read: {error}") from None
    if not all(isinstance(one, dict) for one in found):
        raise SpecError(f"{path} is not a manifest of Kubernetes")
    return found


def _is_entry(one: Object) -> bool:
    return one["kind"] == "Service" and ENTRY in one["metadata"].get("labels", {})


def _problems(topology: Topology) -> Iterator[str]:
    for one in topology.objects:
        if one.get("kind") not in KINDS or not one.get("metadata", {}).get("name"):
            yield f"{one.get('kind')!r} is no kind that a run makes: {', '.join(KINDS)}, each with a name"
            return
    entries = [one for one in topology.objects if _is_entry(one)]
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
    for one in topology.sets:
        name, template = one["metadata"]["name"], one["spec"].get("template", {})
        containers = template.get("spec", {}).get("containers") or [{}]
        if not containers[0].get("command"):
            yield f"the first container of {name} has no command: what an image starts by itself cannot be measured"
        resources: Mapping[str, Any] = containers[0].get("resources", {})
        if not {"cpu", "memory"} <= set(resources.get("requests", {})):
            yield f"the first container of {name} does not request cpu and memory"
        annotations = template.get("metadata", {}).get("annotations", {})
        if DATA not in annotations and SIZED in one["metadata"].get("labels", {}):
            yield f"the pods of {name} have no annotation {DATA}"
        try:
            service_cores(annotations.get(SERVICE_CORES, ALL_CORES))
        except (TypeError, ValueError):
            yield (
                f"the annotation {SERVICE_CORES} of the pods of {name} must be a text with a number of cores, or {ALL_CORES!r}"
            )
