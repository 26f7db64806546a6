"""The servers that a run provisions: the set that a cell needs, and its life from the first turn that needs it to the last.

Only one set exists at a time. A turn that needs another set, or none, first removes the existing set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kubernetes import client as k8s_client
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException
from kubernetes.utils.quantity import parse_quantity
from urllib3.exceptions import HTTPError

from storebench.airflow import connections, images
from storebench.airflow.kubernetes import secrets
from storebench.airflow.kubernetes.calls import ask_again, error_text
from storebench.airflow.kubernetes.placement import Placement
from storebench.connection import variable
from storebench.errors import ServersFailed, SpecError, StorebenchError
from storebench.planning import checks
from storebench.planning.faults import fault_of
from storebench.planning.node_pools import DEFAULT
from storebench.planning.topologies import AGENT_IMAGE, topology_of
from storebench.results.leftovers.servers import ServerUse
from storebench.servers import capacity
from storebench.servers.cluster import Limits, ServerCluster
from storebench.servers.fault import PARTITION
from storebench.servers.pods import deaths, templates
from storebench.servers.render import (
    TOKEN_KEY,
    Place,
    access_name,
    fingerprint,
    host_of,
    limited_sets,
    rendered,
    servers_of,
    set_id,
)
from storebench.servers.sizes import FIELDS, Sizes
from storebench.servers.topology import PASSWORD_KEY, SERVICE_CORES, Object, Topology, service_cores
from storebench.servers.watch import AGENTS, HOLDING, LIMITED, PASSWORD, SERVICES, SET, TOKEN, pod_of
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.reserved import FAULT
from storebench.study.run_params import RunParams, study_values

# The statuses of a refusal by a rule or a policy. 400 is none: an admission webhook without dry run answers so.
REFUSED = (403, 422)
QUOTA = "exceeded quota"
ALLOW_NETWORK = (
    f"{FAULT}={PARTITION} needs a container that runs as root with the capability NET_ADMIN. Allow this container in the namespace"
    " (docs/servers.md says how), or leave out this fault"
)
IMAGE_OF = "servers_{}"  # the name of a container's image; without a Variable of this name, the manifest's image is used


@dataclass(frozen=True, eq=False)
class Group:
    """A set of servers. Turns that need the same set have the same `key`."""

    key: str
    store: str
    topology: Topology
    sizes: Sizes
    cut_off: str = ""  # the server that a partition cuts off, such as `cassandra-1`

    def objects(self, run_id: str, placement: Placement) -> list[Object]:
        """Return the set's Kubernetes objects in this run."""
        servers_id = set_id(run_id, self.key)
        return rendered(self.topology, servers_id, self.sizes, _place(placement), cut_off=self.cut_off)

    @property
    def images(self) -> set[str]:
        """The names of the images that can replace the manifests' images."""
        return {_image(container["name"]) for container in self.topology.containers}

    @property
    def unpublished_images(self) -> set[str]:
        """The names of the images that nobody publishes."""
        return set(map(_image, self.topology.unpublished))

    @property
    def copies(self) -> int:
        """The number of the set's pods."""
        objects = rendered(self.topology, "", self.sizes, Place())
        return sum(item["spec"].get("replicas", 1) for item in objects if item["kind"] == "StatefulSet")


def group_of(study: Study, cell: Cell, params: RunParams) -> Group | None:
    """Return the set of servers that a cell needs in a run with these parameters; None where the cell needs no servers of the run."""
    topology = topology_of(study, cell.store, connections.exists)
    if topology is None:
        return None
    axes = {name: value for name, value in cell.axes if name in FIELDS}
    sizes = Sizes.of(values := study_values(params), axes)
    fault, cut_off = fault_of(study, dict(cell.axes), values), ""
    if fault and fault.changes_network:  # only these servers have a container that may cut them off
        cut_off = fault.server or servers_of(topology, sizes, holding=True)[0]
    parts = {**axes, FAULT: PARTITION} if cut_off else axes
    key = " ".join([cell.store, *(f"{name}={value}" for name, value in parts.items())])
    return Group(key, cell.store, topology, sizes, cut_off)


def groups_of(study: Study, cells: Iterable[Cell], params: RunParams) -> dict[Cell, Group | None]:
    """Return what `group_of` returns, by cell. Looks up each store's topology once."""
    axes_of = {
        cell: (cell.store, *(axis for axis in cell.axes if axis[0] in FIELDS or axis == (FAULT, PARTITION)))
        for cell in cells
    }
    first = {axes: cell for cell, axes in reversed(axes_of.items())}
    groups = {axes: group_of(study, cell, params) for axes, cell in first.items()}
    return {cell: groups[axes] for cell, axes in axes_of.items()}


def check(groups: Iterable[Group], params: RunParams) -> None:
    """Check that the cluster can hold each set of servers beside a client's pod, before it makes any. Raises SpecError."""
    core, namespace = secrets.cluster_of(DEFAULT)
    placement = _placement()
    client = capacity.Need(
        "the client's pod", parse_quantity(params["pod_cpu"]), parse_quantity(params["pod_memory"])
    )
    for group in groups:
        objects = group.objects("", placement)
        checks.check_volumes(group.key, capacity.volumes_of(objects))
        needs = capacity.needs_of(objects, client)
        try:
            lacks = capacity.lacking(
                core,
                k8s_client.StorageV1Api(core.api_client),
                objects,
                needs,
                placement.node_spec(),
                ask_again,
            )
        except (ApiException, HTTPError) as error:
            raise ServersFailed(f"Kubernetes cannot be asked for its nodes: {error_text(error)}") from error
        if lacks:
            raise SpecError(f"The servers {group.key} do not fit on the cluster: {lacks}")
        if reason := _refusal(core, namespace, objects):
            advice = f". {ALLOW_NETWORK}" if group.cut_off else ""
            raise SpecError(
                f"The servers {group.key} cannot be made in the namespace {namespace!r}: {reason}{advice}"
            )


def _refusal(core: k8s_client.CoreV1Api, namespace: str, objects: Sequence[Object]) -> str | None:
    """Return why Kubernetes would refuse the pods of these objects (a LimitRange, a policy, the user of the pods), else None.

    An exceeded quota is ignored: the servers that use the quota may be gone before the run makes its own.
    """
    for pod in templates(objects):
        try:
            ask_again(lambda pod=pod: core.create_namespaced_pod(namespace, pod, dry_run="All"))  # type: ignore[misc]
        except ApiException as error:
            if error.status in REFUSED and QUOTA not in (reason := error_text(error)):
                return reason
        except HTTPError as error:
            raise ServersFailed(f"Kubernetes cannot be asked for its rules: {error_text(error)}") from error
    return None


@dataclass(frozen=True)
class Running:
    """A set of servers that is ready for an attempt. `seen`: the pods' identities when the set became ready."""

    group: Group
    set_id: str
    pods: tuple[k8s.V1Pod, ...]
    seen: Mapping[str, list[Any]]

    def variables(self, connection: str) -> list[k8s.V1EnvVar]:
        """Return the variables with the servers' address for a client's pod, as the connection of this name.

        No value contains the password: Kubernetes inserts it into the connection from an earlier variable, which refers to the Secret.
        """
        content = self.group.topology.connection(host_of(self.group.topology, self.set_id))
        variables = [k8s.V1EnvVar(name=SET, value=self.set_id)]
        if self.group.topology.has_password:
            variables.append(self._secret(PASSWORD, PASSWORD_KEY))
            content["password"] = f"$({PASSWORD})"
        variables.append(k8s.V1EnvVar(name=variable(connection), value=json.dumps(content)))
        if images.named(AGENT_IMAGE):
            agents = {pod.metadata.name: pod.status.pod_ip for pod in self.pods}
            variables += [
                k8s.V1EnvVar(name=AGENTS, value=json.dumps(agents)),
                k8s.V1EnvVar(name=SERVICES, value=json.dumps(self.services())),
                k8s.V1EnvVar(name=LIMITED, value=json.dumps(self.limited())),
                k8s.V1EnvVar(name=HOLDING, value=json.dumps(self.holding())),
                self._secret(TOKEN, TOKEN_KEY),
            ]
        return variables

    def _secret(self, name: str, key: str) -> k8s.V1EnvVar:
        """Return a variable with the value of this key in the set's Secret."""
        reference = k8s.V1SecretKeySelector(name=access_name(self.set_id), key=key)
        return k8s.V1EnvVar(name=name, value_from=k8s.V1EnvVarSource(secret_key_ref=reference))

    def services(self) -> dict[str, float | None]:
        """Return the cores that each service in front of the store can use, by pod; None: all cores that its container may use."""
        texts = {pod.metadata.name: (pod.metadata.annotations or {}).get(SERVICE_CORES) for pod in self.pods}
        return {name: service_cores(text) for name, text in texts.items() if text is not None}

    def limited(self) -> list[str]:
        """Return the pods whose CPU limit the topology or the run's sizes asked for."""
        sets = limited_sets(self.group.topology, self.set_id, self.group.sizes)
        names = [pod.metadata.name for pod in self.pods]
        return [name for name in names if name.rpartition("-")[0] in sets]

    def holding(self) -> list[str]:
        """Return the pods of the servers that hold data, in the topology's order."""
        names = {pod.metadata.name for pod in self.pods}
        wanted = [
            pod_of(server, self.set_id)
            for server in servers_of(self.group.topology, self.group.sizes, holding=True)
        ]
        return [name for name in wanted if name in names]

    def environment(self, client_node: str | None) -> dict[str, Any]:
        """Return the servers' part of an attempt's environment. Equal sets of servers have equal parts: nodes and pods are not named."""
        limits = {_cpu_limit(pod) for pod in self.pods} - {None}
        return {
            "servers": {
                "topology": str(self.group.topology),
                "sizes": str(self.group.sizes),
                "manifests": fingerprint(self.group.topology, self.group.sizes),
                "images": sorted({pod.spec.containers[0].image for pod in self.pods}),
                "share_the_clients_node": client_node in {pod.spec.node_name for pod in self.pods},
                # Without a limit there is no entry, so that the environment keeps the hash of earlier versions.
                **({"cpu_limits": sorted(limits)} if limits else {}),
            }
        }


class Servers:
    """The servers of one run."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id

    @cached_property
    def cluster(self) -> ServerCluster:
        """The cluster with the servers. Raises SpecError where there is no connection to the cluster."""
        core, namespace = secrets.cluster_of(DEFAULT)
        return ServerCluster(core, namespace, ask_again)

    def provision(self, group: Group | None, params: RunParams, go_on: Callable[[], None]) -> Running | None:
        """Provision these servers, and remove the run's other servers; None: only remove. `go_on` is called while waiting, and may raise.

        Raises a StorebenchError where the servers do not become ready. Then they are removed, and this run does not try them again.
        """
        uses = {use.servers: use for use in connections.leftovers().servers_of(self.run_id)}
        for use in uses.values():
            if use.may_exist and (group is None or use.servers != group.key):
                print(f"Removing the servers {use.servers}, which this turn does not need", flush=True)
                self._remove(use.servers)
        if group is None:
            return None
        known = uses.get(group.key)
        if known and known.failed:
            raise ServersFailed(known.failed)
        if known and (running := self._running(group, known)):
            return running
        return self._make(group, params, go_on, anew=known is not None)

    def unchanged(self, group: Group) -> Running | None:
        """Return these servers; None where a server has changed since the set was provisioned."""
        known = self._use_of(group)
        return self._running(group, known) if known else None

    def as_provisioned(self, group: Group) -> Running | None:
        """Return these servers as the run has provisioned them, also where a server has changed since; None if they were never ready."""
        known = self._use_of(group)
        if not known or not known.pods:
            return None
        servers_id = set_id(self.run_id, group.key)
        return Running(group, servers_id, tuple(self._pods(servers_id)), known.pods)

    def deaths(self, running: Running) -> str | None:
        """Return which servers were replaced or restarted since an attempt began, in words; None if none was."""
        try:
            return "; ".join(deaths(running.seen, self.cluster.pods(running.set_id))) or None
        except (ApiException, HTTPError) as error:
            print(f"The servers' pods cannot be read: {error_text(error)}", flush=True)
            return None

    def release(self) -> str | None:
        """Remove all servers of the run. Prints and returns why servers stay (None if none does); the next run tries again."""
        reasons = []
        for use in connections.leftovers().servers_of(self.run_id):
            try:
                self._remove(use.servers)
            except StorebenchError as error:
                reasons.append(
                    f"The servers {use.servers} of the run {self.run_id} are left in the cluster: {error}"
                )
                print(f"{reasons[-1]}. The next run removes them", flush=True)
            else:
                print(f"Removed the servers {use.servers} of the run {self.run_id}", flush=True)
        return "\n".join(reasons) or None

    def forget_failures(self) -> None:
        """Forget which servers could not start, so that the run tries them again."""
        for use in connections.leftovers().servers_of(self.run_id):
            if use.failed:
                connections.leftovers().servers_removed(self.run_id, use.servers)

    def _use_of(self, group: Group) -> ServerUse | None:
        """Return the record of these servers in this run, if there is one."""
        uses = connections.leftovers().servers_of(self.run_id)
        return next((use for use in uses if use.servers == group.key), None)

    def _pods(self, servers_id: str) -> list[k8s.V1Pod]:
        try:
            return list(self.cluster.pods(servers_id))
        except (ApiException, HTTPError) as error:
            raise ServersFailed(f"The servers' pods cannot be read: {error_text(error)}") from error

    def _running(self, group: Group, known: ServerUse) -> Running | None:
        if not known.pods:
            return None
        pods = self._pods(servers_id := set_id(self.run_id, group.key))
        if lost := list(deaths(known.pods, pods)):
            print(f"The servers {group.key} have changed: {'; '.join(lost)}", flush=True)
            return None
        return Running(group, servers_id, tuple(pods), known.pods)

    def _make(self, group: Group, params: RunParams, go_on: Callable[[], None], *, anew: bool) -> Running:
        servers_id, records = set_id(self.run_id, group.key), connections.leftovers()
        limits = Limits(params["startup_timeout_s"], params["server_start_s"])
        try:
            if anew:  # the set is half made, or a server has died
                self._remove(group.key)
            records.provision_servers(self.run_id, group.key, group.store)
            print(f"Making the servers {group.key}: {group.copies} pods", flush=True)
            objects = group.objects(self.run_id, _placement())
            self.cluster.make(servers_id, objects)
            seen = self.cluster.wait(servers_id, group.copies, limits, go_on)
            pods = tuple(self.cluster.pods(servers_id))
        except (StorebenchError, ApiException, HTTPError) as error:
            raise self._give_up(group, error) from error
        except BaseException:  # the task is being stopped
            self._remove(group.key)
            raise
        records.servers_ready(self.run_id, group.key, seen)
        print(f"The servers {group.key} are ready", flush=True)
        return Running(group, servers_id, pods, seen)

    def _give_up(self, group: Group, error: Exception) -> StorebenchError:
        """Remove the servers, record the failure for later turns, and return the error to raise."""
        reason = f"The servers {group.key} could not be provisioned: {error_text(error)}"
        try:
            self._remove(group.key, forget=False)
        except StorebenchError as failure:
            return ServersFailed(f"{reason}. And they could not be removed: {failure}")
        connections.leftovers().servers_failed(self.run_id, group.key, reason)
        return ServersFailed(reason)

    def _remove(self, key: str, *, forget: bool = True) -> None:
        try:
            self.cluster.remove(set_id(self.run_id, key))
        except (ApiException, HTTPError) as error:
            raise ServersFailed(error_text(error)) from error
        if forget:
            connections.leftovers().servers_removed(self.run_id, key)


def _cpu_limit(pod: k8s.V1Pod) -> str | None:
    """Return the CPU limit of the pod's server, as Kubernetes writes it."""
    resources = pod.spec.containers[0].resources
    return ((resources and resources.limits) or {}).get("cpu")


def _placement() -> Placement:
    return Placement.from_extra(connections.get(DEFAULT.connection).extra_dejson)


def _image(container: str) -> str:
    return IMAGE_OF.format(container.replace("-", "_"))


def _place(placement: Placement) -> Place:
    return Place(
        spec=placement.node_spec(),
        labels=placement.labels,
        annotations=placement.annotations,
        image_of=lambda container: images.named(_image(container)),
        agent=images.named(AGENT_IMAGE),
    )
