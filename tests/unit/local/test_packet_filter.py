"""The stack's rules in the packet filter, and those of kube-proxy: real ones, in network namespaces of their own."""

import subprocess
import sys

import pytest

from local.stack import packet_filter

# Rules as kube-proxy makes them, with a chain and a rule of somebody else between them.
RULES = """
*filter
:FORWARD ACCEPT [0:0]
:OTHER - [0:0]
:KUBE-FORWARD - [0:0]
:KUBE-SERVICES - [0:0]
-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
-A FORWARD -j OTHER
-A FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A OTHER -s 10.0.0.0/8 -m comment --comment "not -j KUBE-FORWARD" -j RETURN
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:KUBE-SEP-1 - [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-SVC-1 - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m udp --dport 53 -j KUBE-SVC-1
-A KUBE-SEP-1 -p udp -m udp -j DNAT --to-destination 10.244.0.1:18053
-A KUBE-SVC-1 -j KUBE-SEP-1
COMMIT
"""
STACK = """
import json, subprocess, sys
from pathlib import Path
from local.stack import packet_filter
from local.stack.settings import Settings, StackError

def rules():
    return [line for line in subprocess.check_output(["iptables-save"], text=True).splitlines() if line[:2] == "-A" or " - " in line]

def load(text):
    subprocess.run(["iptables-restore", "--noflush"], input=text, text=True, check=True)

settings = Settings(home=Path(sys.argv[1]))
"""


def _in_a_network_of_its_own(code, *arguments):
    command = ["unshare", "--net", sys.executable, "-c", STACK + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_all_that_kube_proxy_has_made_is_removed_and_nothing_else(tmp_path):
    code = """
packet_filter.claim(settings)
load(sys.argv[2])
packet_filter.clear(settings)
print(*rules(), packet_filter.claimed(settings), sep="\\n")
# Of the table that is empty now, its own chains are gone: there is none to remove.
print(subprocess.run(["iptables", "-t", "nat", "-X", "PREROUTING"], capture_output=True).returncode)
"""
    assert _in_a_network_of_its_own(code, str(tmp_path), RULES) == [
        ":OTHER - [0:0]",
        "-A FORWARD -j OTHER",
        '-A OTHER -s 10.0.0.0/8 -m comment --comment "not -j KUBE-FORWARD" -j RETURN',
        "False",
        "1",
    ]


def test_rules_of_another_kubernetes_are_refused_and_never_removed(tmp_path):
    code = """
load(sys.argv[2])
before = rules()
try:
    packet_filter.claim(settings)
except StackError as error:
    print(error)
packet_filter.clear(settings)
print(rules() == before)
"""
    refusal, unchanged = _in_a_network_of_its_own(code, str(tmp_path), RULES)
    assert "rules of another Kubernetes" in refusal
    assert unchanged == "True"


def test_a_stack_that_claimed_them_before_may_go_on(tmp_path):
    code = """
packet_filter.claim(settings)
load(sys.argv[2])
packet_filter.claim(settings)
print(packet_filter.claimed(settings))
"""
    assert _in_a_network_of_its_own(code, str(tmp_path), RULES) == ["True"]


def test_a_claim_of_before_the_machine_s_last_start_is_none(tmp_path):
    code = """
packet_filter.claim(settings)
packet_filter._file(settings).write_text("of an earlier boot")
load(sys.argv[2])
before = rules()
packet_filter.clear(settings)
print(rules() == before)
"""
    assert _in_a_network_of_its_own(code, str(tmp_path), RULES) == ["True"]


@pytest.mark.parametrize("text", ["", "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -j ACCEPT\nCOMMIT\n"])
def test_where_there_are_no_such_rules_nothing_is_removed(text):
    assert packet_filter.removal(packet_filter.tables(text)) == ""


# This machine with the pods' bridge, a pod on that bridge, and another machine that has a route to the pod network.
NEIGHBOURS = """
from local.stack.network import _ip, create_bridge

LISTEN = "import socket, time; server = socket.create_server((%r, 7000)); print(flush=True); time.sleep(60)"
REACH = "import socket, sys; socket.create_connection((sys.argv[1], 7000), 1)"
POD, LAN, HERE = "10.244.0.5", "192.0.2.2", "192.0.2.1"
children = []

def child(*command):
    children.append(subprocess.Popen(command, stdout=subprocess.PIPE))
    children[-1].stdout.readline()  # it is ready
    return children[-1].pid

def inside(pid):
    return ["nsenter", f"--net=/proc/{pid}/ns/net"] if pid else []

def neighbour(link, address, route, *settings):
    pid = child("unshare", "--net", "sh", "-c", "echo; exec sleep 60")
    _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
    _ip("link", "set", link, "up", *settings)
    for arguments in (["link", "set", "lo", "up"], ["address", "add", f"{address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"], ["route", "add", *route]):
        subprocess.run([*inside(pid), "ip", *arguments], check=True)
    return pid

def reaches(pid, address):
    command = [*inside(pid), sys.executable, "-c", REACH, address]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0

def reached():
    found = {"another machine": lan, "a pod": pod, "this machine": None}
    return [f"{who} reaches {what}" for who, pid in found.items()
            for what, address in (("the servers", settings.gateway), ("the pod", POD)) if reaches(pid, address)]

_ip("link", "set", "lo", "up")
Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
create_bridge(settings)
pod = neighbour("pod0", POD, ("default", "via", settings.gateway), "master", settings.bridge)
lan = neighbour("lan0", LAN, (str(settings.network), "via", HERE))
_ip("address", "add", f"{HERE}/24", "dev", "lan0")
child(sys.executable, "-c", LISTEN % settings.gateway)
child(*inside(pod), sys.executable, "-c", LISTEN % POD)
"""
EVERYBODY = [
    f"{who} reaches {what}"
    for who in ("another machine", "a pod", "this machine")
    for what in ("the servers", "the pod")
]


def test_the_pod_network_is_reached_by_pods_and_this_machine_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("STOREBENCH_BRIDGE", "storebench-unit")
    monkeypatch.setenv("STOREBENCH_POD_NETWORK", "10.244.0.0/24")
    code = """
load(sys.argv[2])
before = rules()
try:
    print(*reached(), sep=", ")
    packet_filter.guard(settings)
    print(*reached(), packet_filter.guarded(settings), sep=", ")
    packet_filter.unguard(settings)
    print(*reached(), packet_filter.guarded(settings), sep=", ")
    print(rules() == before)
finally:
    for one in children:
        one.kill()
"""
    found = _in_a_network_of_its_own(NEIGHBOURS + code, str(tmp_path), RULES)
    assert (
        found
        == [
            ", ".join(EVERYBODY),  # the hole that there would be
            ", ".join([*EVERYBODY[2:], "True"]),
            ", ".join([*EVERYBODY, "False"]),
            "True",
        ]
    )


def test_a_guard_that_was_left_behind_is_found_and_removed(tmp_path):
    code = """
from local.stack import teardown
packet_filter.guard(settings)
print(*teardown.remains(settings))
teardown.remove(settings)
print(*teardown.remains(settings), *rules())
other = Settings(home=Path(sys.argv[1], "other"))
packet_filter.guard(other)
teardown.remove(settings)
print(packet_filter.guarded(other), packet_filter.guarded(settings))
"""
    assert _in_a_network_of_its_own(code, str(tmp_path)) == ["rules in the packet filter", "", "True False"]
