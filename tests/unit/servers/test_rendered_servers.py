import os
import subprocess

import pytest

from storebench.errors import SpecError
from storebench.servers.render import (
    LABEL,
    Place,
    fingerprint,
    host_of,
    limited_sets,
    rendered,
    servers_of,
    set_id,
)
from storebench.servers.sizes import FIELDS, Sizes
from storebench.servers.topology import ALL_CORES, FOLDER, SERVICE_CORES, find


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


def three(sizes=None, place=None, name="three"):
    return rendered(find("elasticsearch", name), "abc", sizes or Sizes(), place or Place())


def the_set(objects):
    (found,) = (one for one in objects if one["kind"] == "StatefulSet")
    return found


def test_each_set_of_servers_has_an_id_of_its_own():
    assert set_id("d/r", "es@one") == set_id("d/r", "es@one")
    assert len({set_id("d/r", "es@one"), set_id("d/other", "es@one"), set_id("d/r", "es@three")}) == 3


def test_all_objects_have_names_and_labels_of_the_run_and_no_namespace_of_their_own():
    objects = three()
    assert {one["metadata"]["name"] for one in objects} == {"elasticsearch-abc", "elasticsearch-nodes-abc"}
    assert all(one["metadata"]["labels"][LABEL] == "abc" for one in objects)
    assert not any("namespace" in one["metadata"] for one in objects)
    spec = the_set(objects)["spec"]
    assert spec["template"]["metadata"]["labels"][LABEL] == spec["selector"]["matchLabels"][LABEL] == "abc"
    assert spec["volumeClaimTemplates"][0]["metadata"]["labels"][LABEL] == "abc"
    services = [one["spec"]["selector"] for one in objects if one["kind"] == "Service"]
    assert services == [{"app": "elasticsearch", LABEL: "abc"}] * 2, "not the pods of another run"
    assert host_of(find("elasticsearch", "three"), "abc") == "elasticsearch-abc"


def test_references_follow_the_names():
    spec = the_set(three())["spec"]
    assert spec["serviceName"] == "elasticsearch-nodes-abc"
    told = {one["name"]: one.get("value") for one in spec["template"]["spec"]["containers"][0]["env"]}
    assert told["NODES"] == "elasticsearch-nodes-abc" and told["SET"] == "elasticsearch-abc"
    assert told["cluster.initial_master_nodes"] == "$(SET)-0"


def test_what_is_rendered_leaves_the_topology_as_it_was():
    topology = find("elasticsearch", "three")
    before = fingerprint(topology, Sizes())
    rendered(
        topology, "abc", Sizes(memory="8Gi", copies=5), Place(agent="a:1", spec={"nodeSelector": {"a": "b"}})
    )
    assert fingerprint(topology, Sizes()) == before


def test_without_sizes_the_topology_says_them():
    spec = the_set(three())["spec"]
    assert spec["replicas"] == 3
    assert spec["template"]["spec"]["containers"][0]["resources"] == {
        "requests": {"cpu": "500m", "memory": "2Gi"},
        "limits": {"memory": "2Gi"},
    }


def test_sizes_take_the_place_of_the_topologys():
    params = {
        "server_cpu": "2",
        "server_memory": "4Gi",
        "server_disk": "50Gi",
        "server_storage_class": "fast",
        "server_copies": "5",
    }
    spec = the_set(three(Sizes.of(params, {})))["spec"]
    assert spec["replicas"] == 5
    assert spec["template"]["spec"]["containers"][0]["resources"] == {
        "requests": {"cpu": "2", "memory": "4Gi"},
        "limits": {"cpu": "2", "memory": "4Gi"},
    }
    claim = spec["volumeClaimTemplates"][0]["spec"]
    assert claim["storageClassName"] == "fast" and claim["resources"]["requests"]["storage"] == "50Gi"


def test_an_axis_of_the_name_of_a_size_goes_before_the_parameter():
    sizes = Sizes.of({"server_memory": "4Gi"}, {"server_memory": "8Gi", "batch": "10"})
    assert sizes == Sizes(memory="8Gi") and str(sizes) == "server_memory=8Gi"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("server_cpu", "much"),
        ("server_memory", "2 GB"),
        ("server_copies", "0"),
        ("server_storage_class", "Fast!"),
    ],
)
def test_a_size_that_is_none_is_refused(name, value):
    with pytest.raises(SpecError, match=FIELDS[name].title):
        Sizes.of({name: value}, {})


def test_one_node_stays_one():
    Sizes(copies=3).check(find("elasticsearch", "three"))
    with pytest.raises(
        SpecError, match="server_copies: the topology elasticsearch/one has a fixed number of copies"
    ):
        Sizes(copies=3).check(find("elasticsearch", "one"))


def test_the_deployment_says_where_the_pods_run_and_which_image():
    place = Place(spec={"nodeSelector": {"pool": "bench"}}, image_of={"elasticsearch": "own/es:1"}.get)
    pod = the_set(three(place=place))["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"pool": "bench"}
    assert pod["containers"][0]["image"] == "own/es:1"
    assert pod["securityContext"]["runAsNonRoot"] is True


def test_servers_keep_away_from_those_of_their_own_set():
    pod = the_set(three())["spec"]["template"]["spec"]
    (term,) = pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert term["podAffinityTerm"]["labelSelector"]["matchLabels"] == {"app": "elasticsearch", LABEL: "abc"}


def test_the_agent_starts_the_server_and_is_brought_into_its_image():
    pod = the_set(three(place=Place(agent="own/agent:1")))["spec"]["template"]["spec"]
    server, init = pod["containers"][0], pod["initContainers"][0]
    assert init["image"] == "own/agent:1" and init["command"] == ["/agent", "install", "/storebench/agent"]
    assert server["command"] == [
        "/storebench/agent",
        "--",
        "/usr/local/bin/docker-entrypoint.sh",
        "eswrapper",
    ]
    volume = {one["name"]: one["mountPath"] for one in server["volumeMounts"]}["storebench-agent"]
    assert volume == init["volumeMounts"][0]["mountPath"] == "/storebench"
    assert {"name": "storebench-agent", "emptyDir": {}} in pod["volumes"]
    told = {one["name"]: one for one in server["env"]}
    assert told["STOREBENCH_AGENT_TOKEN"]["valueFrom"]["secretKeyRef"] == {
        "name": "storebench-servers-abc",
        "key": "token",
    }
    assert told["STOREBENCH_AGENT_DATA"]["value"] == "/usr/share/elasticsearch/data"
    assert told["STOREBENCH_AGENT_READY"]["value"].startswith("http://127.0.0.1:9200/")
    commands = {name for name in told if name.startswith("STOREBENCH_AGENT_COMMAND_")}
    assert commands == {"STOREBENCH_AGENT_COMMAND_COMPACT"}
    assert "_forcemerge" in told["STOREBENCH_AGENT_COMMAND_COMPACT"]["value"]
    assert {"name": "agent", "containerPort": 9110} in server["ports"]
    assert init["securityContext"]["allowPrivilegeEscalation"] is False


def test_a_server_with_a_login_takes_the_password_of_its_own_set():
    objects = rendered(find("mariadb", "one"), "abc", Sizes(), Place(agent="own/agent:1"))
    told = {one["name"]: one for one in the_set(objects)["spec"]["template"]["spec"]["containers"][0]["env"]}
    secret = {"name": "storebench-servers-abc", "key": "password"}
    assert told["MARIADB_ROOT_PASSWORD"]["valueFrom"]["secretKeyRef"] == secret
    assert told["STOREBENCH_AGENT_TOKEN"]["valueFrom"]["secretKeyRef"] == {**secret, "key": "token"}
    assert not any("EMPTY" in name for name in told)
    logins = {
        path: find(*path.split("/")).has_password
        for path in ("mariadb/one", "postgresql/one", "mongodb/one", "zeo/one")
    }
    assert logins == {"mariadb/one": True, "postgresql/one": True, "mongodb/one": False, "zeo/one": False}


def test_postgresql_gets_a_quarter_of_the_memory_of_any_size():
    """Kubernetes gives the variable MEMORY the limit, and reads $$ as $. The image's program is a shell function here."""
    objects = rendered(find("postgresql", "one"), "abc", Sizes(memory="8Gi"), Place())
    (container,) = the_set(objects)["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"memory": "8Gi"}
    told = {one["name"]: one for one in container["env"]}
    assert told["MEMORY"]["valueFrom"] == {
        "resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}
    }
    command = [text.replace("$$", "$") for text in container["command"]]
    command[-1] = command[-1].replace("docker-entrypoint.sh", "echo")
    started = subprocess.check_output(command, env={**os.environ, "MEMORY": "8192"}, text=True)
    assert started == "postgres -c shared_buffers=2048MB -c effective_cache_size=6144MB\n"


def test_without_an_agent_the_server_starts_as_it_is():
    pod = the_set(three())["spec"]["template"]["spec"]
    assert "initContainers" not in pod and pod["containers"][0]["command"][0].endswith("docker-entrypoint.sh")


def test_the_fingerprint_is_that_of_what_runs():
    one, more = find("elasticsearch", "one"), find("elasticsearch", "three")
    assert fingerprint(one, Sizes()) != fingerprint(more, Sizes())
    assert fingerprint(one, Sizes()) != fingerprint(one, Sizes(memory="4Gi"))


def test_all_that_servers_know_of_each_other_has_the_runs_names_and_only_what_holds_data_has_its_sizes():
    objects = rendered(find("mongodb", "sharded"), "abc", Sizes(memory="4Gi", copies=3), Place())
    sets = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "StatefulSet"}
    names = {one["metadata"]["name"] for one in objects}
    assert all(name.endswith("-abc") for name in names)
    for name, spec in sets.items():
        container = spec["template"]["spec"]["containers"][0]
        assert {one["value"] for one in container["env"]} <= names
        assert spec["template"]["spec"]["volumes"][0]["configMap"]["name"] == "mongodb-scripts-abc"
        holds_data = "shard" in name
        assert (container["resources"]["limits"]["memory"] == "4Gi") is holds_data
        assert spec["replicas"] == (2 if "router" in name else 3)


def test_only_servers_that_hold_data_get_the_cpu_limit_of_the_run():
    topology = find("cassandra", "rest")
    assert limited_sets(topology, "x1", Sizes(memory="4Gi")) == set()
    assert limited_sets(topology, "x1", Sizes(cpu="2")) == {"cassandra-x1"}


def test_the_servers_of_a_topology_have_names_and_some_hold_data():
    topology = find("cassandra", "rest_three")
    nodes = ["cassandra-0", "cassandra-1", "cassandra-2"]
    assert servers_of(topology, Sizes(), holding=True) == nodes
    assert set(servers_of(topology, Sizes())) == {*nodes, "cassandra-api-0", "cassandra-api-tuned-0"}
    assert servers_of(topology, Sizes(copies=1), holding=True) == nodes[:1]


@pytest.mark.parametrize(
    ("database", "name"),
    [("mongodb", "rest"), ("mongodb", "rest_sharded"), ("cassandra", "rest"), ("cassandra", "rest_three")],
)
def test_a_service_knows_its_database_whatever_a_run_calls_it(database, name):
    objects = rendered(find(database, name), "x1", Sizes(), Place())
    services = [one for one in objects if one["kind"] == "StatefulSet" and "-api" in one["metadata"]["name"]]
    assert len(services) == 2
    for one in services:
        (container,) = one["spec"]["template"]["spec"]["containers"]
        told = {variable["name"]: variable["value"] for variable in container["env"]}
        assert told["DATABASE_STORE"].lower() == database
        assert told["DATABASE_HOST"] == f"{database}-x1"
    cores = [one["spec"]["template"]["metadata"]["annotations"][SERVICE_CORES] for one in services]
    assert cores == ["1", ALL_CORES], "Python's threads share a lock"
