"""Test which pods of a topology get the container that cuts them off, and with which rights."""

import pytest
from kubernetes.utils.quantity import parse_quantity

from storebench.servers.capacity import Need, needs_of
from storebench.servers.render import Place, rendered, servers_of
from storebench.servers.sizes import Sizes
from storebench.servers.topology import CHECKOUT_SERVERS, find

TOPOLOGIES = sorted(
    f"{path.parent.parent.name}/{path.parent.name}"
    for path in CHECKOUT_SERVERS.glob("*/*/kustomization.yaml")
    if "components" not in path.parts
)
AGENT = Place(agent="own/agent:1")


def pods(path, place=AGENT, **more):
    """Return the spec of each StatefulSet's pods, by the StatefulSet's name."""
    objects = rendered(find(*path.split("/")), "x1", Sizes(), place, **more)
    sets = [one for one in objects if one["kind"] == "StatefulSet"]
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in sets}


@pytest.mark.parametrize("path", TOPOLOGIES)
def test_only_the_pods_of_the_server_with_a_partition_may_change_their_network(path):
    assert "NET_ADMIN" not in str(pods(path))
    for server in servers_of(find(*path.split("/")), Sizes()):
        own = f"{server.rpartition('-')[0]}-x1"
        found = pods(path, cut_off=server)
        assert [name for name, pod in found.items() if "NET_ADMIN" in str(pod)] == [own]
        assert {**found, own: None} == {**pods(path), own: None}
        *others, network = found[own]["containers"]
        assert others == pods(path)[own]["containers"], "the server's own container is unchanged"
        assert network["name"] == "network" and network["command"] == ["/agent", "network", "9110"]
        assert network["image"] == "own/agent:1"
        assert network["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]},
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": False,
            "runAsUser": 0,
        }


def test_the_container_counts_for_the_room_on_the_nodes():
    client = Need("client", parse_quantity("1"), parse_quantity("1Gi"))
    needs = [
        needs_of(rendered(find("cassandra", "three"), "x1", Sizes(), AGENT, cut_off=server), client)
        for server in ("", "cassandra-1")
    ]
    added = {
        (with_it.cpu - plain.cpu, with_it.memory - plain.memory)
        for plain, with_it in zip(*needs, strict=True)
    }
    assert added == {(0, 0), (parse_quantity("50m"), parse_quantity("32Mi"))}


def test_without_an_agent_there_is_no_such_container():
    assert pods("cassandra/three", Place(), cut_off="cassandra-1") == pods("cassandra/three", Place())
