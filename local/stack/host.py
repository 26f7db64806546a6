"""Check the machine before anything starts: rights, free ports, a free subnet, disk space."""

import contextlib
import ipaddress
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from local import space
from local.stack import supervisor, teardown
from local.stack.settings import PORT_BASE, Settings, StackError

# The capabilities (linux/capability.h) that a kubelet, a container runtime and their network need.
CAPABILITIES = {
    "CHOWN": 0,
    "FOWNER": 3,  # for links to files of other users
    "SETGID": 6,
    "SETUID": 7,
    "NET_ADMIN": 12,
    "SYS_CHROOT": 18,
    "SYS_ADMIN": 21,
    "MKNOD": 27,
}
SYS_RESOURCE = 24
LISTEN = "0A"  # in /proc/net/tcp


def capabilities() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def has_sys_resource() -> bool:
    return bool(capabilities() >> SYS_RESOURCE & 1)


def check_rights() -> None:
    if os.geteuid() != 0:
        raise StackError(
            "The embedded stack needs root: it runs a kubelet, which mounts and makes network links."
        )
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


def listeners(tables: str) -> dict[int, set[str]]:
    """Parse the listening ports of tables such as /proc/net/tcp, each with the inodes of its sockets."""
    sockets_by_port: dict[int, set[str]] = {}
    for line in tables.splitlines():
        columns = line.split()
        if len(columns) > 9 and columns[3] == LISTEN:
            sockets_by_port.setdefault(int(columns[1].rpartition(":")[2], 16), set()).add(columns[9])
    return sockets_by_port


def _process_of(inodes: set[str]) -> int | None:
    links = {f"socket:[{inode}]" for inode in inodes}
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):  # removed between listing and reading
            if str(descriptor.readlink()) in links:
                return int(descriptor.parts[2])
    return None


def port_owner(inodes: set[str]) -> str:
    """Describe the owner of sockets: 'process 123 (nginx: master process)'."""
    pid = _process_of(inodes)
    if pid is None:
        return "a process that cannot be seen from here"
    command = ""
    with contextlib.suppress(OSError):
        command = (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        )
    return f"process {pid} ({command[:120]})"


def check_ports(settings: Settings) -> None:
    tables = [path.read_text() for path in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if path.exists()]
    taken = listeners("\n".join(tables))
    lines = [
        f"  {port} ({name}) is taken by {port_owner(taken[port])}; another port: STOREBENCH_PORT_{name.upper()}=..."
        for name in settings.needed_ports
        if (port := settings.ports[name]) in taken
    ]
    if lines:
        lines.append(f"All of them can be moved together: STOREBENCH_PORT_BASE=... (by default {PORT_BASE})")
        raise StackError("\n".join(["These ports are not free:", *lines]))


def check_network(settings: Settings) -> None:
    """Raise StackError if a route of the machine already leads into the pod network."""
    output = subprocess.run(["ip", "-json", "route"], check=True, capture_output=True, text=True).stdout
    if route := overlapping(json.loads(output or "[]"), settings.network):
        raise StackError(
            f"The pod network {settings.network} overlaps the route to {route['dst']} by {route.get('dev')}; "
            "choose another: STOREBENCH_POD_NETWORK=10.99.0.0/24"
        )


def overlapping(routes: list[dict[str, str]], network: ipaddress.IPv4Network) -> dict[str, str] | None:
    for route in routes:
        if route["dst"] != "default" and ipaddress.ip_network(route["dst"]).overlaps(network):
            return route
    return None


def check(settings: Settings, say: teardown.Say = print) -> None:
    """Check the machine, and remove leftovers of dead stacks first. This stack must not be running."""
    check_rights()
    teardown.remove_abandoned(settings, say)
    check_space(settings)
    check_ports(settings)
    check_network(settings)


def check_space(settings: Settings) -> None:
    free = space.free_gb(settings.home)
    if free < space.ROOM_GB:
        raise StackError(
            f"Only {free:.1f} GB are free at {settings.home}; the stack needs {space.ROOM_GB} GB."
        )


def check_checkout(settings: Settings) -> None:
    """Refuse a home whose running stack is another checkout's: the set-up would replace that checkout's parts. Change nothing."""
    recorded = settings.run / "checkout"
    if supervisor.processes(settings) is None:
        return
    other = recorded.read_text() if recorded.exists() else None
    if other != str(settings.checkout):
        raise StackError(
            f"The stack in {settings.home} runs for the checkout {other}. `make stop` there or here first, "
            "or give this checkout a home of its own: STOREBENCH_HOME=..."
        )


def main(arguments: list[str]) -> None:
    """Check the whole machine, or with the argument `checkout` only the home's checkout."""
    settings = Settings()
    if arguments == ["checkout"]:
        check_checkout(settings)
    elif not teardown.remains(settings):
        check(settings)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except StackError as error:
        sys.exit(str(error))
