"""The pods' bridge, made for real in a network namespace of its own."""

import json
import subprocess
import sys

BRIDGE_AND_A_POD = """
import json
from local.stack.network import _ip, create_bridge
from local.stack.settings import Settings

def address():
    (link,) = json.loads(_ip("-json", "link", "show", settings.bridge))
    return link["address"]

settings = Settings()
create_bridge(settings)
alone = address()
_ip("link", "add", "pod", "address", "00:00:00:00:00:01", "type", "veth")
_ip("link", "set", "pod", "master", settings.bridge)
print(json.dumps([alone, address()]))
"""


def test_a_pod_does_not_change_the_address_of_the_gateway(monkeypatch):
    monkeypatch.setenv("STOREBENCH_BRIDGE", "storebench-unit")
    monkeypatch.setenv("STOREBENCH_POD_NETWORK", "10.244.0.0/24")
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", BRIDGE_AND_A_POD],
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout) == ["02:00:0a:f4:00:01"] * 2
