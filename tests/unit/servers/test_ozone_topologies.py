"""Ozone's topologies, and the script that starts its servers."""

import os
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.etree import ElementTree

import pytest
from kubernetes.utils.quantity import parse_quantity

from storebench.servers.render import Place, rendered
from storebench.servers.sizes import Sizes
from storebench.servers.topology import FOLDER, find
from storebench.stores.ozone_manager import PORT as OM_WEB_PORT

GIB = 2**30


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


def config_of(topology):
    (found,) = (one["data"] for one in topology.objects if one["kind"] == "ConfigMap")
    return found


def settings(topology):
    site = ElementTree.fromstring(config_of(topology)["ozone-site.xml"])
    return {one.findtext("name"): one.findtext("value") for one in site}


@pytest.mark.parametrize(("name", "datanodes"), [("one", 1), ("three", 3)])
def test_keys_are_on_all_datanodes_and_the_safe_mode_waits_for_all(name, datanodes):
    found = find("ozone", name)
    counts = {one["metadata"]["name"]: one["spec"]["replicas"] for one in found.sets}
    assert counts == {"ozone-scm": 1, "ozone-om": 1, "ozone-datanode": datanodes}
    assert settings(found)["ozone.server.default.replication"] == str(datanodes)
    assert settings(found)["hdds.scm.safemode.min.datanode"] == str(datanodes)
    asked = {"extra": {"hadoop": {"ozone.replication": str(datanodes)}}}
    assert found.connection("h") == {"host": "h", "port": 9862, **asked}, (
        "the client for Hadoop asks for three"
    )


@pytest.mark.parametrize(("what", "most"), [("memory", 6 * GIB), ("cpu", 1)])
def test_three_datanodes_leave_room_for_a_client_on_a_small_node(what, most):
    asked = sum(
        one["spec"]["replicas"]
        * parse_quantity(one["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"][what])
        for one in find("ozone", "three").sets
    )
    assert 0 < asked <= most


def test_both_differ_in_what_they_are_about_and_nothing_else():
    one, three = find("ozone", "one"), find("ozone", "three")
    assert config_of(one)["start.sh"] == config_of(three)["start.sh"]
    differ = {name for name, value in settings(one).items() if settings(three)[name] != value}
    assert differ == {"ozone.server.default.replication", "hdds.scm.safemode.min.datanode"}
    assert set(settings(one)) == set(settings(three))


def test_servers_know_each_other_by_the_runs_names_and_only_datanodes_have_its_sizes():
    objects = rendered(find("ozone", "three"), "abc", Sizes(memory="4Gi"), Place())
    sets = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "StatefulSet"}
    for name, spec in sets.items():
        pod = spec["template"]["spec"]
        told = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
        hosts = {"SCM_HOST": "$(SCM)-0.$(NODES)", "OM_HOST": "$(OM)-0.$(NODES)"}
        if name != "ozone-datanode-abc":  # its own name is known before the cluster tells it
            hosts["SCM_HOST" if "scm" in name else "OM_HOST"] = "$(POD)"
        assert {key: told[key] for key in hosts} == hosts
        assert (told["SCM"], told["OM"]) == ("ozone-scm-abc", "ozone-om-abc")
        assert told["NODES"] == spec["serviceName"] == "ozone-nodes-abc"
        assert pod["volumes"] == [{"name": "config", "configMap": {"name": "ozone-config-abc"}}]
        size = pod["containers"][0]["resources"]["limits"]["memory"]
        assert (size == "4Gi") is ("datanode" in name)
    nodes = next(one for one in objects if one["metadata"]["name"] == "ozone-nodes-abc")
    assert nodes["spec"]["publishNotReadyAddresses"] is True and nodes["spec"]["clusterIP"] == "None"
    entry = next(
        one for one in objects if one["metadata"]["name"] == "ozone-abc" and one["kind"] == "Service"
    )
    assert entry["spec"]["clusterIP"] == "None", (
        "a client in Java cannot reach a Service's own address by ICMP"
    )


def test_the_heap_follows_the_memory():
    for one in find("ozone", "three").sets:
        env = one["spec"]["template"]["spec"]["containers"][0]["env"]
        options = next(entry["value"] for entry in env if entry["name"] == "OZONE_OPTS")
        assert "-XX:MaxRAMPercentage=" in options and "-Xmx" not in options


@pytest.mark.parametrize("name", ["one", "three"])
def test_the_om_is_ready_with_its_web_server_which_opens_last(name):
    found = find("ozone", name)
    (om,) = (one for one in found.sets if one["metadata"]["name"] == "ozone-om")
    (container,) = om["spec"]["template"]["spec"]["containers"]
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert ports[container["readinessProbe"]["tcpSocket"]["port"]] == OM_WEB_PORT
    assert OM_WEB_PORT in {one["port"] for one in found.entry["spec"]["ports"]}, (
        "clients reach it by the Service"
    )


@contextmanager
def scm(answers):
    """Start an SCM whose JMX reports these values of InSafeMode in order, and then the last value."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = (
                f'{{"beans" : [ {{\n    "InSafeMode" : {answers[min(len(asked), len(answers)) - 1]},\n}} ] }}'
            )
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def start(tmp_path):
    """Run the script with a fake command `ozone` that logs its arguments. Return the arguments so far."""
    ozone = tmp_path / "bin" / "ozone"
    ozone.parent.mkdir()
    ozone.write_text('#!/bin/sh\necho "$*" >> "$LOG"\n[ "$*" != "${FAIL:-}" ]\n')
    ozone.chmod(0o755)
    log, script = tmp_path / "log", tmp_path / "start.sh"

    def run(role, port=1, fail=""):
        text = config_of(find("ozone", "three"))["start.sh"]
        for ours, theirs in (("/data", f"{tmp_path}/data"), ("/9863", f"/{port}"), ("/9876", f"/{port}")):
            assert ours in text
            text = text.replace(ours, theirs)
        script.write_text(text)
        more = {"PATH": f"{ozone.parent}:{os.environ['PATH']}", "LOG": str(log), "FAIL": fail}
        done = subprocess.run(
            ["bash", script, role],
            env={**os.environ, **more, "SCM_HOST": "127.0.0.1"},
            check=False,
            timeout=60,
        )
        return done.returncode, log.read_text().splitlines()

    return run


def test_what_needs_it_is_initialized_once(start):
    assert start("scm") == (0, ["scm --init", "scm"])
    assert start("scm") == (0, ["scm --init", "scm", "scm"])


def test_what_could_not_be_initialized_is_not_started_and_tried_again(start):
    assert start("scm", fail="scm --init") == (1, ["scm --init"])
    assert start("scm") == (0, ["scm --init"] * 2 + ["scm"])


def test_a_datanode_starts_once_the_scm_answers(start):
    with scm(["true"]) as (port, asked):
        assert start("datanode", port) == (0, ["datanode"])
        assert asked == []


def test_the_om_starts_when_the_scm_has_left_its_safe_mode(start):
    with scm(["true", "true", "false"]) as (port, asked):
        began = time.monotonic()
        assert start("om", port) == (0, ["om --init", "om"])
        assert len(asked) == 3 and time.monotonic() - began > 0.9
        assert "StorageContainerManager" in asked[0]


def test_the_log_of_a_server_that_waits_says_for_what(start, capfd):
    with scm(["true", "false"]) as (port, _):
        start("om", port)
    said = capfd.readouterr().out
    assert "waiting for the SCM at 127.0.0.1" in said and "safe mode: it needs all DataNodes" in said
