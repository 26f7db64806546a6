"""How the topologies of Cassandra start their nodes, and the entry point of the image that is built for them."""

import copy
import os
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
import uvicorn
from kubernetes.utils.quantity import parse_quantity

from storebench.servers.render import Place, rendered
from storebench.servers.sizes import Sizes
from storebench.servers.topology import CHECKOUT_SERVERS, find, names

CHECKOUT = CHECKOUT_SERVERS.parents[1]
IMAGE = CHECKOUT / "images" / "servers" / "cassandra"


def container_of(topology):
    (found,) = [
        one
        for one in rendered(find("cassandra", topology), "x1", Sizes(), Place())
        if one["kind"] == "StatefulSet" and one["metadata"]["name"] == "cassandra-x1"
    ]
    return found["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize("topology", ["three", "rest_three"])
def test_the_seeds_are_the_first_node_by_the_names_that_a_run_gives(topology):
    told = {one["name"]: one.get("value") for one in container_of(topology)["env"]}
    assert (told["SET"], told["NODES"]) == ("cassandra-x1", "cassandra-nodes-x1")
    assert told["CASSANDRA_SEEDS"] == "$(SET)-0,$(SET)-0.$(NODES)"
    assert list(told).index("SET") < list(told).index(
        "CASSANDRA_SEEDS"
    )  # Kubernetes knows only what comes before


@pytest.fixture
def started(tmp_path):
    """Start the container's command with a program that prints its arguments in the place of Java."""
    programs = tmp_path / "bin"
    programs.mkdir()
    java = programs / "java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    (programs / "docker-entrypoint.sh").symlink_to(IMAGE / "docker-entrypoint.sh")
    (tmp_path / "conf").symlink_to(IMAGE)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "jamm-0.jar").touch()
    folders = {"CASSANDRA_HOME": tmp_path, "CASSANDRA_CONF": tmp_path, "CASSANDRA_DATA": tmp_path / "data"}

    def started(command, **variables):
        # $$ is Kubernetes' way to write a $
        done = subprocess.run(
            [part.replace("$$", "$") for part in command],
            env={
                "PATH": f"{programs}:{os.environ['PATH']}",
                **{name: str(path) for name, path in folders.items()},
                **variables,
            },
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines(), Path(tmp_path, "cassandra.yaml").read_text()

    return started


@pytest.mark.parametrize("topology", ["one", "rest", "three", "rest_three"])
def test_half_of_the_memory_is_the_heap(started, topology):
    options, _ = started(
        container_of(topology)["command"], MEMORY="2048", CASSANDRA_LISTEN_ADDRESS="10.0.0.7"
    )
    assert {"-Xms1024M", "-Xmx1024M"} <= set(options)
    assert options[-1] == "org.apache.cassandra.service.CassandraDaemon"


def test_settings_are_those_of_the_variables(started):
    options, settings = started(
        ["docker-entrypoint.sh", "cassandra", "-f"],
        CASSANDRA_LISTEN_ADDRESS="10.0.0.7",
        CASSANDRA_SEEDS="a-0,a-0.nodes",
        CASSANDRA_CLUSTER_NAME="storebench",
        JVM_EXTRA_OPTS="-Done=1 -Dtwo=2",
    )
    assert "seeds: 'a-0,a-0.nodes'" in settings and "listen_address: '10.0.0.7'" in settings
    assert "cluster_name: 'storebench'" in settings and "@" not in settings.partition("\n")[2]
    assert {"-Done=1", "-Dtwo=2", "-XX:MaxRAMPercentage=50"} <= set(options)


def test_a_node_without_seeds_is_its_own(started):
    _, settings = started(["docker-entrypoint.sh", "cassandra", "-f"], CASSANDRA_LISTEN_ADDRESS="10.0.0.7")
    assert "seeds: '10.0.0.7'" in settings


def parts_of(topology, *, services):
    """Return the objects of the database or of its services, without CPU requests and the entry's annotation."""
    found = []
    for one in copy.deepcopy(find("cassandra", topology).objects):
        if ("-api" in one["metadata"]["name"]) is services:
            one["metadata"].pop("annotations", None)
            if one["kind"] == "StatefulSet":
                del one["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"]
            found.append(one)
    return found


def test_three_nodes_behind_services_are_the_three_nodes_and_the_services():
    assert parts_of("rest_three", services=False) == parts_of("three", services=False)
    assert parts_of("rest_three", services=True) == parts_of("rest", services=True) != []
    rest, three = (find("cassandra", name).connection("cassandra-x1") for name in ("rest", "rest_three"))
    assert rest == three


@pytest.mark.parametrize(("what", "most"), [("cpu", Decimal("1.25")), ("memory", 7 * 2**30)])
def test_three_nodes_and_services_leave_room_for_a_client_on_a_small_machine(what, most):
    asked = sum(
        one["spec"]["replicas"]
        * parse_quantity(one["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"][what])
        for one in find("cassandra", "rest_three").sets
    )
    assert 0 < asked <= most


@pytest.mark.parametrize("database", ["cassandra", "mongodb"])
def test_the_service_in_python_starts_with_options_that_uvicorn_knows(database):
    for name in names(database):
        for one in find(database, name).sets:
            program, *arguments = one["spec"]["template"]["spec"]["containers"][0]["command"]
            if program == "uvicorn":
                told = uvicorn.main.make_context(program, arguments).params
                assert (told["app"], told["port"]) == ("storebench.stores.point_operations.service:app", 8080)
                assert told["workers"] is None, "the annotation says one core"
