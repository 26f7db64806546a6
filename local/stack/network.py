"""The pod network's bridge, and the kernel settings that a kubelet changes."""

import json
import shutil
import subprocess
from ipaddress import IPv4Address
from pathlib import Path

from local.stack.secrets import write_private
from local.stack.settings import Settings, StackError

FORWARD = "net/ipv4/ip_forward"
# What a kubelet sets when it may, and what Services need.
SYSCTLS = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    FORWARD,
)
PROC_SYS = Path("/proc/sys")
LABEL = "storebench stack in "


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise StackError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def _label(settings: Settings) -> str:
    """Marks the bridge as this stack's, for a later start that finds it left behind."""
    return f"{LABEL}{settings.home}"[:250]


def _labels() -> dict[str, str]:
    """The label of each bridge that has one, by its name."""
    if not shutil.which("ip"):
        return {}
    links = json.loads(_ip("-json", "link", "show", "type", "bridge") or "[]")
    return {link["ifname"]: link["ifalias"] for link in links if link and "ifalias" in link}


def own_bridges(settings: Settings) -> list[str]:
    """The bridges with this stack's label, whatever they are named."""
    return [bridge for bridge, label in _labels().items() if label == _label(settings)]


def homes() -> list[Path]:
    """The homes of all stacks that have a bridge on this machine."""
    return [Path(label.removeprefix(LABEL)) for label in _labels().values() if label.startswith(LABEL)]


def _hardware_address(settings: Settings) -> str:
    """Return the locally administered hardware address that contains the gateway's IPv4 address."""
    return ":".join(f"{byte:02x}" for byte in (0x02, 0, *IPv4Address(settings.gateway).packed))


def create_bridge(settings: Settings) -> None:
    if Path("/sys/class/net", settings.bridge).exists():
        raise StackError(
            f"There is a network link named {settings.bridge} already, which is not this stack's; "
            "choose another name: STOREBENCH_BRIDGE=..."
        )
    # Without an address of its own it has the lowest of its pods', and with each pod that comes or goes the others may not reach
    # the gateway until they ask for its address again: half a minute.
    _ip("link", "add", settings.bridge, "address", _hardware_address(settings), "type", "bridge")
    _ip("link", "set", settings.bridge, "alias", _label(settings))
    _ip("address", "add", f"{settings.gateway}/{settings.network.prefixlen}", "dev", settings.bridge)
    _ip("link", "set", settings.bridge, "up")


def remove_bridges(settings: Settings) -> None:
    for bridge in own_bridges(settings):
        for link in json.loads(_ip("-json", "link", "show", "master", bridge) or "[]"):
            if link:
                _ip("link", "delete", link["ifname"])
        _ip("link", "delete", bridge)


def save_sysctls(settings: Settings) -> None:
    values = {name: (PROC_SYS / name).read_text().strip() for name in SYSCTLS}
    write_private(settings.home / "sysctls.json", json.dumps(values))


def restore_sysctls(settings: Settings) -> None:
    saved = settings.home / "sysctls.json"
    if not saved.exists():
        return
    for name, value in json.loads(saved.read_text()).items():
        path = PROC_SYS / name
        if path.read_text().strip() != value:
            path.write_text(value)
    saved.unlink()


def forward(on: bool, settings: Settings) -> None:
    """Lets the machine forward packets, as those to a Service are; or not, unless it did before."""
    saved = json.loads((settings.home / "sysctls.json").read_text())
    (PROC_SYS / FORWARD).write_text("1" if on else saved[FORWARD])
