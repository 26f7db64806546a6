"""HDFS' topologies, and the scripts that start its servers and tell when they are ready."""

import os
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

import pytest
from kubernetes.utils.quantity import parse_quantity

from storebench.connection import Connection
from storebench.servers.render import Place, rendered
from storebench.servers.sizes import Sizes
from storebench.servers.topology import FOLDER, find
from storebench.spark.filesystems.hdfs import Hdfs

PROGRAM = Path(__file__).parents[3] / "images" / "servers" / "hdfs" / "hdfs"


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


def config_of(topology):
    (found,) = (one["data"] for one in topology.objects if one["kind"] == "ConfigMap")
    return found


def settings(topology, site="hdfs-site.xml"):
    found = ElementTree.fromstring(config_of(topology)[site])
    return {one.findtext("name"): one.findtext("value") for one in found}


@pytest.mark.parametrize(("name", "datanodes"), [("one", 1), ("three", 3)])
def test_blocks_are_on_all_datanodes_and_the_safe_mode_waits_for_all(name, datanodes):
    found = find("hdfs", name)
    counts = {one["metadata"]["name"]: one["spec"]["replicas"] for one in found.sets}
    assert counts == {"hdfs-namenode": 1, "hdfs-datanode": datanodes}
    assert settings(found)["dfs.replication"] == str(datanodes)
    assert settings(found)["dfs.namenode.safemode.min.datanodes"] == str(datanodes)


@pytest.mark.parametrize("name", ["one", "three"])
def test_clients_ask_for_as_many_copies_as_there_are_datanodes(name):
    found = find("hdfs", name)
    told = found.connection("hdfs-abc")
    client = Hdfs(Connection("hdfs", told["host"], told["port"], extra=told["extra"]))
    assert client.uri("x") == "hdfs://hdfs-abc:8020/x"
    assert client.settings()["spark.hadoop.dfs.replication"] == settings(found)["dfs.replication"]


def test_both_differ_in_what_they_are_about_and_nothing_else():
    one, three = find("hdfs", "one"), find("hdfs", "three")
    for name in ("core-site.xml", "log4j.properties", "start.sh", "ready.sh"):
        assert config_of(one)[name] == config_of(three)[name]
    differ = {name for name, value in settings(one).items() if settings(three)[name] != value}
    assert differ == {"dfs.replication", "dfs.namenode.safemode.min.datanodes"}
    assert settings(one).keys() == settings(three).keys()


@pytest.mark.parametrize(("what", "most"), [("memory", 6 * 2**30), ("cpu", 1)])
def test_three_datanodes_leave_room_for_a_client_on_a_small_node(what, most):
    asked = sum(
        one["spec"]["replicas"]
        * parse_quantity(one["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"][what])
        for one in find("hdfs", "three").sets
    )
    assert 0 < asked <= most


def test_servers_find_the_namenode_of_their_own_run_before_it_is_ready():
    objects = rendered(find("hdfs", "three"), "abc", Sizes(), Place())
    sets = [one for one in objects if one["kind"] == "StatefulSet"]
    for one in sets:
        (container,) = one["spec"]["template"]["spec"]["containers"]
        told = {variable["name"]: variable.get("value") for variable in container["env"]}
        assert told["NAMENODE"] == "hdfs-namenode-abc"
        volume, _ = one["spec"]["template"]["spec"]["volumes"]
        assert volume["configMap"]["name"] == "hdfs-config-abc"
    services = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "Service"}
    assert services["hdfs-namenode-abc"]["publishNotReadyAddresses"] is True
    assert services["hdfs-abc"]["selector"]["part"] == "namenode", "clients wait until it is ready"


@contextmanager
def namenode(answer):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = answer.encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if "FSNamesystemState::FSState" in self.path else b"")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("state", "ready"), [("Operational", True), ("safeMode", False), (None, False)])
def test_the_namenode_is_ready_once_it_has_left_its_safe_mode(state, ready, tmp_path):
    script = config_of(find("hdfs", "three"))["ready.sh"]
    with namenode(f'{{"beans": [{{"FSState" : "{state}"}}]}}') as port:
        asked = port if state else 9  # nobody answers there
        path = tmp_path / "ready.sh"
        path.write_text(script.replace("9870", str(asked)))
        done = subprocess.run(["/bin/bash", path], capture_output=True, timeout=30, check=False)
    assert (done.returncode == 0) == ready


def test_a_namenode_is_formatted_once(tmp_path):
    called, data = tmp_path / "called", tmp_path / "data"
    program = tmp_path / "hdfs"
    program.write_text(f'#!/bin/bash\necho "$@" >> {called}\n')
    program.chmod(0o755)
    script = tmp_path / "start.sh"
    text = config_of(find("hdfs", "one"))["start.sh"]
    script.write_text(text.replace("/opt/hadoop/bin/hdfs", str(program)).replace("/data/", f"{data}/"))

    def start(what):
        called.unlink(missing_ok=True)
        environment = {**os.environ, "NAMENODE": "localhost"}
        subprocess.run(["/bin/bash", script, what], env=environment, check=True, timeout=30)
        return called.read_text().splitlines()

    assert start("namenode") == ["namenode -format -force -nonInteractive", "namenode"]
    (data / "name" / "current").mkdir(parents=True)
    assert len(start("namenode")) == 2, "a format that was interrupted is done again"
    (data / "name" / "current" / "VERSION").touch()
    assert start("namenode") == ["namenode"], "what it knows stays"
    assert start("datanode") == ["datanode"]


def test_the_images_program_takes_the_publishers_variables(tmp_path):
    java = tmp_path / "java"
    java.write_text('#!/bin/bash\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    told = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "HADOOP_CONF_DIR": "/config",
        "HDFS_DATANODE_OPTS": "-XX:+UseSerialGC -XX:MaxRAMPercentage=50",
    }
    done = subprocess.run(
        [PROGRAM, "datanode"], env=told, capture_output=True, text=True, check=True, timeout=30
    )
    words = done.stdout.splitlines()
    assert words[-1] == "org.apache.hadoop.hdfs.server.datanode.DataNode"
    assert {"-XX:+UseSerialGC", "-XX:MaxRAMPercentage=50"} <= set(words)
    assert words[words.index("-cp") + 1].startswith("/config:")
    wrong = subprocess.run(
        [PROGRAM, "dfs"], env=told, capture_output=True, text=True, check=False, timeout=30
    )
    assert wrong.returncode == 1 and "and not 'dfs'" in wrong.stderr
