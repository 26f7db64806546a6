"""List the images of this project that a study needs, by their folders under images/."""

from __future__ import annotations

from collections.abc import Iterable

from storebench.servers import topology
from storebench.study.model import Study
from storebench.study.reserved import DROP

SERVERS = "servers/"  # the folder under images/ with the images of servers
AGENT = SERVERS + "agent"


def of_pods(study: Study, stores: Iterable[str]) -> set[str]:
    """Return the images of the pods of these stores, and of the pod that makes the study's dataset."""
    named = [study.store(name) for name in stores]
    pods = [store.pod_of(operation) for store in named for operation in (*store.operations, DROP)]
    if study.dataset:
        pods.append(study.dataset.pod)
    return {pod.image for pod in pods}


def of_study(study: Study) -> set[str]:
    """Return the folders of all images that runs of a study can need: of pods, of servers that runs provision, and of the agent.

    The images of a server's publisher are not among them.
    """
    servers = [study.store(name).server_of(name) for name in topology.provisioned_for(study)]
    topologies = [topology.find(*server) for server in servers if server]
    unpublished = {SERVERS + name for one in topologies for name in one.unpublished}
    # The agent measures provisioned servers, and the nodes of pods with programs of other languages.
    commands = any(study.store(name).pod_of(step).command for name in study.stores for step in study.steps)
    return of_pods(study, study.stores) | unpublished | ({AGENT} if topologies or commands else set())
