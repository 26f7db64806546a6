"""Folders, ports and sizes of the embedded stack, each with a variable in the environment."""

import hashlib
import ipaddress
import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from local.stack.nodes import MOST, Node

PORT_BASE = 18000
# The port of each server relative to the base port.
PORTS = {
    "airflow": 80,
    "results": 432,
    "mongodb": 17,
    "s3": 70,
    "elasticsearch": 200,
    "elasticsearch_transport": 300,
    "kubernetes": 443,
    "controller_manager": 257,
    "scheduler": 259,
    "proxy": 256,
    "proxy_metrics": 249,
    "services_controllers": 258,
    "dns": 53,
    "dns_ready": 181,
    "usage": 90,
}
# These servers and the kubelets listen on the pod network, all other servers on loopback.
POD_NETWORK_PORTS = {"mongodb", "elasticsearch", "s3", "kubernetes", "usage", "dns"}
CLUSTER_PORTS = (
    "controller_manager",
    "scheduler",
    "proxy",
    "proxy_metrics",
    "services_controllers",
    "dns",
    "dns_ready",
)

# An embedded server is excluded if these variables name a user's own server.
OWN_SERVERS = {
    "kubernetes": "KUBECONFIG",
    "s3": "AIRFLOW_CONN_STOREBENCH_S3",
    "mongodb": "AIRFLOW_CONN_STOREBENCH_MONGODB",
    "elasticsearch": "AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH",
    "postgresql": "AIRFLOW_CONN_STOREBENCH_POSTGRESQL",
}


class StackError(Exception):
    """An error that the user can act on. Only its text is shown."""


def _home() -> Path:
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "storebench"
    return Path(os.environ.get("STOREBENCH_HOME") or default).resolve()


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable) or str(default)
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise StackError(f"{variable} is not a port: {text!r}")
    return int(text)


def _nodes() -> tuple[Node, ...]:
    text = os.environ.get("STOREBENCH_NODES") or "1"
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise StackError(f"STOREBENCH_NODES is not a number of nodes from 1 to {MOST}: {text!r}")
    return tuple(Node(number) for number in range(1, int(text) + 1))


def _ports() -> dict[str, int]:
    base = _number("STOREBENCH_PORT_BASE", PORT_BASE)
    offsets = PORTS | {name: offset for node in _nodes() for name, offset in node.ports.items()}
    if base + max(offsets.values()) > 65535:
        raise StackError(f"STOREBENCH_PORT_BASE is too high: {base}; at most {65535 - max(offsets.values())}")
    ports = {
        name: _number(f"STOREBENCH_PORT_{name.upper()}", base + offset) for name, offset in offsets.items()
    }
    for name, port in ports.items():
        if twin := [other for other in ports if other != name and ports[other] == port]:
            raise StackError(f"{name} and {twin[0]} cannot both have port {port}")
    return ports


def _elasticsearch_heap() -> str:
    variable = "STOREBENCH_ELASTICSEARCH_HEAP"
    text = os.environ.get(variable) or "1g"
    if not re.fullmatch(r"[1-9][0-9]*[mg]", text):
        raise StackError(f"{variable} is not a size such as 512m or 2g: {text!r}")
    return text


def _idle_minutes() -> int:
    text = os.environ.get("STOREBENCH_IDLE_MINUTES") or "30"
    if not text.isdecimal():
        raise StackError(f"STOREBENCH_IDLE_MINUTES is not a number of minutes, 0 for never: {text!r}")
    return int(text)


def _network() -> ipaddress.IPv4Network:
    variable = "STOREBENCH_POD_NETWORK"
    try:
        network = ipaddress.IPv4Network(os.environ.get(variable) or "10.244.0.0/24")
    except ValueError as error:
        raise StackError(f"{variable} is not an IPv4 network: {error}") from None
    if not 8 <= network.prefixlen <= 28:
        raise StackError(f"{variable} must be between a /8 and a /28: {network}")
    return network


def _bridge() -> str:
    name = os.environ.get("STOREBENCH_BRIDGE") or "storebench0"
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,15}", name) or name in (".", ".."):
        raise StackError(
            f"STOREBENCH_BRIDGE is not a name for a network link (at most 15 letters and digits): {name!r}"
        )
    return name


def _own_servers() -> frozenset[str]:
    """Return the parts for which the user has servers. Values of this stack's env file do not count as the user's."""
    embedded = os.environ.get("STOREBENCH_EMBEDDED", "").split()
    return frozenset(
        part for part, variable in OWN_SERVERS.items() if os.environ.get(variable) and part not in embedded
    )


@dataclass(frozen=True)
class Settings:
    home: Path = field(default_factory=_home)
    checkout: Path = field(default_factory=lambda: Path(__file__).resolve().parents[2])
    ports: dict[str, int] = field(default_factory=_ports)
    network: ipaddress.IPv4Network = field(default_factory=_network)
    bridge: str = field(default_factory=_bridge)
    elasticsearch_heap: str = field(default_factory=_elasticsearch_heap)
    idle_minutes: int = field(default_factory=_idle_minutes)
    own: frozenset[str] = field(default_factory=_own_servers)
    nodes: tuple[Node, ...] = field(default_factory=_nodes)

    @property
    def needed_ports(self) -> list[str]:
        parts = {"elasticsearch_transport": "elasticsearch"}
        parts |= dict.fromkeys(CLUSTER_PORTS, "kubernetes")
        parts |= {name: "kubernetes" for node in self.nodes for name in node.ports}
        return [name for name in self.ports if parts.get(name, name) not in self.own]

    @property
    def run(self) -> Path:
        """Return the folder of a running stack's state. `down` removes it, so at a start it only exists after a crash."""
        return self.home / "run"

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "log"

    @property
    def env_file(self) -> Path:
        return self.run / "env"

    @property
    def supervisor_socket(self) -> Path:
        return self.run / "supervisor.sock"

    @property
    def postgres_root(self) -> Path:
        return self.home / "postgres" / "root"

    @cached_property
    def gateway(self) -> str:
        """Return the host's address on the pod network, at which pods reach the servers."""
        return str(next(self.network.hosts()))

    @cached_property
    def cgroup(self) -> str:
        """Return the name of the cgroup that contains all processes of the stack, including pods."""
        return "storebench-" + hashlib.sha256(str(self.home).encode()).hexdigest()[:8]

    def node_cgroup(self, node: Node) -> str:
        """Return the cgroup of a node's pods. The kubelet ends unknown processes in it."""
        return f"{self.cgroup}/node{node.suffix}" if node.suffix else self.cgroup

    def address(self, name: str) -> tuple[str, int]:
        return (self.gateway if name in POD_NETWORK_PORTS else "127.0.0.1", self.ports[name])

    def url(self, name: str, scheme: str = "http") -> str:
        host, port = self.address(name)
        return f"{scheme}://{host}:{port}"
