"""The commands of the topologies that tell whether all copies of the data are whole."""

import http.server
import os
import subprocess
import threading

import pytest

from storebench.servers.render import Place, rendered
from storebench.servers.sizes import Sizes
from storebench.servers.topology import FOLDER, WHOLE, find

WHOLE_EXIT, INCOMPLETE, NO_COPIES = 0, 1, 3
STATE = '{{\n    "PendingReconstructionBlocks" : {pending},\n    "LowRedundancyBlocks" : {low},\n    "x" : 0\n}}\n'


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


def command_of(server, name):
    """Return the only command that a topology declares, as the agent gets it."""
    objects = rendered(find(server, name), "x1", Sizes(), Place(agent="own/agent:1"))
    sets = [one["spec"]["template"]["spec"] for one in objects if one["kind"] == "StatefulSet"]
    told = [one for pod in sets for one in pod["containers"][0]["env"]]
    (command,) = (one["value"] for one in told if one["name"] == "STOREBENCH_AGENT_WHOLE")
    return command


@pytest.mark.parametrize(
    ("health", "code"),
    [
        ("2 4 0 0 0", WHOLE_EXIT),
        ("2 3 0 1 0", INCOMPLETE),
        ("2 3 1 0 0", INCOMPLETE),
        ("2 4 0 0 1", INCOMPLETE),
        ("0 0 0 4 0", INCOMPLETE),  # no primary either
        ("2 2 0 0 0", NO_COPIES),
        ("", INCOMPLETE),  # the node does not answer
    ],
)
def test_elasticsearch_counts_the_shards_that_are_not_in_their_place(health, code, tmp_path):
    (tmp_path / "curl").write_text(f"#!/bin/sh\necho '{health}'\n")
    (tmp_path / "curl").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command_of("elasticsearch", "three")], env=environment, check=False)
    assert done.returncode == code


@pytest.mark.parametrize(
    ("pending", "low", "code"), [(0, 0, WHOLE_EXIT), (0, 10, INCOMPLETE), (1, 0, INCOMPLETE)]
)
def test_the_namenode_counts_the_blocks_that_lack_a_copy(pending, low, code, tmp_path):
    class NameNode(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            if self.path.endswith("/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"):
                self.wfile.write(STATE.format(pending=pending, low=low).encode())

        def log_message(self, *_):
            pass

    (config,) = (one["data"] for one in find("hdfs", "three").objects if one["kind"] == "ConfigMap")
    program, script = command_of("hdfs", "three").split()
    assert script == "/config/whole.sh"
    with http.server.HTTPServer(("127.0.0.1", 0), NameNode) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (tmp_path / "whole.sh").write_text(config["whole.sh"].replace("9870", str(server.server_port)))
        done = subprocess.run([program, tmp_path / "whole.sh"], check=False, timeout=30)
        server.shutdown()
    assert done.returncode == code


@pytest.mark.parametrize(
    ("server", "name"), [("elasticsearch", "one"), ("hdfs", "one"), ("cassandra", "three")]
)
def test_a_topology_without_copies_or_without_an_answer_declares_no_command(server, name):
    assert not any(WHOLE in str(one) for one in find(server, name).objects)
