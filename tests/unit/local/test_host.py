import ipaddress
import os
import socket
from pathlib import Path

import pytest

from local.stack import host
from local.stack.settings import Settings, StackError

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4660 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 101 1 0
   1: 00000000:4660 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 102 1 0
   2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 103 1 0
"""


def test_only_listening_sockets_take_a_port():
    assert host.listeners(TABLE) == {18016: {"101", "102"}}


def test_a_taken_port_is_refused_with_its_owner_and_what_to_set(monkeypatch, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setenv("STOREBENCH_PORT_S3", str(port))
        with pytest.raises(StackError) as error:
            host.check_ports(Settings(home=tmp_path))
    text = str(error.value)
    # The test's runner may have changed what the process calls itself.
    command = Path("/proc/self/cmdline").read_bytes().decode().replace("\0", " ").strip()
    assert f"{port} (s3) is taken by process {os.getpid()} ({command[:40]}" in text
    assert "STOREBENCH_PORT_S3=" in text and "STOREBENCH_PORT_BASE=" in text


def test_sockets_of_nobody_have_no_owner():
    assert host.port_owner({"no such inode"}) == "a process that cannot be seen from here"


@pytest.mark.parametrize(
    ("destination", "overlaps"),
    [("default", False), ("192.0.2.0/24", False), ("10.0.0.0/8", True), ("10.244.0.7", True)],
)
def test_a_route_into_the_pod_network_is_found(destination, overlaps):
    route = {"dst": destination, "dev": "eth0"}
    assert host.overlapping([route], ipaddress.IPv4Network("10.244.0.0/24")) == (route if overlaps else None)
