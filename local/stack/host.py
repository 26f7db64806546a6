"""What the machine must offer before anything starts: rights, free ports, a free subnet, space."""

import contextlib
import ipaddress
import json
import os
import shutil
import subprocess
from pathlib import Path

import psutil

from local.stack.settings import Settings, StackError

# From linux/capability.h: what a kubelet, a container runtime and their network need.
CAPABILITIES = {"CHOWN": 0, "SETGID": 6, "SETUID": 7, "NET_ADMIN": 12, "SYS_CHROOT": 18, "SYS_ADMIN": 21, "MKNOD": 27}
SYS_RESOURCE = 24
FREE_SPACE = 5 * 1024**3


def capabilities() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def has_sys_resource() -> bool:
    return bool(capabilities() >> SYS_RESOURCE & 1)


def check_rights() -> None:
    if os.geteuid() != 0:
        raise StackError("The embedded stack needs root: it runs a kubelet, which mounts and makes network links.")
    held = capabilities()
    if missing := [name for name, bit in CAPABILITIES.items() if not held >> bit & 1]:
        raise StackError(
            f"This machine withholds the capabilities {', '.join('CAP_' + name for name in missing)}; in a container, "
            "start it privileged, or set KUBECONFIG and use a cluster of your own."
        )
    if "overlay" not in Path("/proc/filesystems").read_text() and shutil.which("modprobe"):
        subprocess.run(["modprobe", "overlay"], check=False, capture_output=True)
    if "overlay" not in Path("/proc/filesystems").read_text():
        raise StackError("This kernel has no overlay file system, which containers need.")


def port_owner(port: int) -> str | None:
    """Says who listens on a port: 'process 123 (nginx: master process)', or None where nobody does."""
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port:
            if connection.pid is None:
                return "a process that cannot be seen from here"
            with contextlib.suppress(psutil.Error):
                command = " ".join(psutil.Process(connection.pid).cmdline())[:120]
                return f"process {connection.pid} ({command})"
            return f"process {connection.pid}"
    return None


def check_ports(settings: Settings, names: list[str]) -> None:
    taken = [
        f"  {port} ({name}) is taken by {owner}; another port: STOREBENCH_PORT_{name.upper()}=..."
        for name in names
        if (owner := port_owner(port := settings.ports[name]))
    ]
    if taken:
        raise StackError("\n".join(["These ports are not free:", *taken]))


def check_network(settings: Settings) -> None:
    """Refuses a pod network that some route of the machine already leads into."""
    output = subprocess.run(["ip", "-json", "route"], check=True, capture_output=True, text=True).stdout
    for route in json.loads(output or "[]"):
        if route["dst"] == "default" or route.get("dev") == settings.bridge:
            continue
        if ipaddress.ip_network(route["dst"]).overlaps(settings.network):
            raise StackError(
                f"The pod network {settings.network} overlaps the route to {route['dst']} by {route.get('dev')}; "
                "choose another: STOREBENCH_POD_NETWORK=10.99.0.0/24"
            )


def check_space(settings: Settings) -> None:
    free = shutil.disk_usage(settings.home).free
    if free < FREE_SPACE:
        raise StackError(f"Only {free / 1024**3:.1f} GB are free at {settings.home}; the stack needs 5 GB.")
