"""The pod network's bridge, and the kernel settings that a kubelet changes."""

import json
import shutil
import subprocess
from ipaddress import IPv4Address
from pathlib import Path

from local.stack.secrets import write_private
from local.stack.settings import Settings, StackError

FORWARD = "net/ipv4/ip_forward"
# The kernel settings of a kubelet, and of Services.
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
    process = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if process.returncode != 0:
        raise StackError(f"ip {' '.join(arguments)}: {process.stderr.strip()}")
    return process.stdout


def _label(settings: Settings) -> str:
    """Return the label that marks the bridge as this stack's, so that a later start recognizes a leftover."""
    return f"{LABEL}{settings.home}"[:250]


def _labels() -> dict[str, str]:
    """Return the labels of bridges by name."""
    if not shutil.which("ip"):
        return {}
    links = json.loads(_ip("-json", "link", "show", "type", "bridge") or "[]")
    return {link["ifname"]: link["ifalias"] for link in links if link and "ifalias" in link}


def own_bridges(settings: Settings) -> list[str]:
    """Return the bridges with this stack's label, under any name."""
    return [bridge for bridge, label in _labels().items() if label == _label(settings)]


def homes() -> list[Path]:
    """Return the homes of all stacks with a bridge on this machine."""
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
    # Without a fixed address the bridge takes the lowest address of its pods. Each pod that starts or ends could then change the address,
    # and other pods would lose the gateway for half a minute.
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
    """Turn the forwarding of packets on, which Services need; or off, unless it was on before the stack."""
    saved = json.loads((settings.home / "sysctls.json").read_text())
    (PROC_SYS / FORWARD).write_text("1" if on else saved[FORWARD])
