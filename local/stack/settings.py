"""Where the embedded stack lives and which ports it takes. Everything here can be set from the environment."""

import hashlib
import ipaddress
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

# name: (port, on the pod network rather than on loopback)
PORTS = {
    "airflow": 18080,
    "results": 18432,
    "mongodb": 18017,
    "s3": 18070,
    "kubernetes": 18443,
    "kubelet": 18250,
    "kubelet_health": 18248,
    "controller_manager": 18257,
    "scheduler": 18259,
}
POD_NETWORK_PORTS = {"mongodb", "s3", "kubernetes", "kubelet"}

# An embedded server is left out where the user has named one of their own.
OWN_SERVERS = {
    "kubernetes": "KUBECONFIG",
    "s3": "AIRFLOW_CONN_STOREBENCH_S3",
    "mongodb": "AIRFLOW_CONN_STOREBENCH_MONGODB",
}


class StackError(Exception):
    """Something that the user can act on; its text is all that is shown."""


def _home() -> Path:
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "storebench"
    return Path(os.environ.get("STOREBENCH_HOME") or default).resolve()


def _port(name: str) -> int:
    variable = f"STOREBENCH_PORT_{name.upper()}"
    text = os.environ.get(variable) or str(PORTS[name])
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise StackError(f"{variable} is not a port: {text!r}")
    return int(text)


def _network() -> ipaddress.IPv4Network:
    text = os.environ.get("STOREBENCH_POD_NETWORK") or "10.244.0.0/24"
    try:
        return ipaddress.IPv4Network(text)
    except ValueError as error:
        raise StackError(f"STOREBENCH_POD_NETWORK is not an IPv4 network: {error}") from None


def _own_servers() -> frozenset[str]:
    """The parts that the user has servers of their own for. What this stack's env file set is not the user's."""
    embedded = os.environ.get("STOREBENCH_EMBEDDED", "").split()
    return frozenset(
        part for part, variable in OWN_SERVERS.items() if os.environ.get(variable) and part not in embedded
    )


@dataclass(frozen=True)
class Settings:
    home: Path = field(default_factory=_home)
    checkout: Path = field(default_factory=lambda: Path(__file__).resolve().parents[2])
    ports: dict[str, int] = field(default_factory=lambda: {name: _port(name) for name in PORTS})
    network: ipaddress.IPv4Network = field(default_factory=_network)
    bridge: str = field(default_factory=lambda: os.environ.get("STOREBENCH_BRIDGE") or "storebench0")
    own: frozenset[str] = field(default_factory=_own_servers)

    @property
    def run(self) -> Path:
        """State of a running stack: gone after `down`, so that it is there at a start only if the last end was no `down`."""
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
        """The host's address on the pod network: where pods find the servers."""
        return str(next(self.network.hosts()))

    @cached_property
    def cgroup(self) -> str:
        """Every process of the stack is in this cgroup, pods included: so they are told from all others."""
        return "storebench-" + hashlib.sha256(str(self.home).encode()).hexdigest()[:8]

    def address(self, name: str) -> tuple[str, int]:
        return (self.gateway if name in POD_NETWORK_PORTS else "127.0.0.1", self.ports[name])

    def url(self, name: str, scheme: str = "http") -> str:
        host, port = self.address(name)
        return f"{scheme}://{host}:{port}"
