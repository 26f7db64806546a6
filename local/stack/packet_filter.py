"""The stack's rules in the packet filter. Only the standard library is used: `make stop` calls this module.

The stack has one own chain (`guard`), which protects the pod network. All other chains belong to kube-proxy, which does not remove them at
its end. Their names are the same on every machine. So kube-proxy is not started if such chains exist, and all later such chains belong to
this stack.
"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from local.stack.secrets import write_private
from local.stack.settings import Settings, StackError

FAMILIES = ("iptables", "ip6tables")
CHAIN = "KUBE-"
BOOT = Path("/proc/sys/kernel/random/boot_id")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

Tables = dict[str, list[str]]  # the lines of `iptables-save`, by table


def _file(settings: Settings) -> Path:
    """Return the file that marks the rules as this stack's. It contains the id of the machine's boot."""
    return settings.home / "packet-filter"


def _run(program: str, *arguments: str, text: str | None = None) -> str:
    path = shutil.which(program, path=_PATH)
    if path is None:
        raise StackError(f"There is no {program}: install the package iptables")
    process = subprocess.run([path, *arguments], input=text, capture_output=True, text=True, check=False)
    if process.returncode:
        raise StackError(f"{program} {' '.join(arguments)}: {process.stderr.strip()}")
    return process.stdout


def tables(text: str) -> Tables:
    """Parse the output of `iptables-save` into lines by table."""
    rules_by_table: Tables = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("*"):
            lines = rules_by_table.setdefault(line[1:], [])
        elif line.startswith((":", "-A ")):
            lines.append(line)
    return rules_by_table


def _chains(lines: list[str], prefix: str = CHAIN) -> list[str]:
    return [name for line in lines if (name := line[1:].split()[0]).startswith(prefix) and line[0] == ":"]


def _saved(family: str) -> Tables:
    return tables(_run(f"{family}-save")) if shutil.which(f"{family}-save", path=_PATH) else {}


def _target(rule: str) -> str:
    words = shlex.split(rule)  # a comment is one word
    return words[words.index("-j") + 1] if "-j" in words else ""


def claim(settings: Settings) -> None:
    """Claim kube-proxy's rules before its start. Raises StackError if another cluster's kube-proxy has rules."""
    if claimed(settings):
        return
    if any(_chains(lines) for family in FAMILIES for lines in _saved(family).values()):
        raise StackError(
            "The packet filter of this machine has rules of another Kubernetes (chains KUBE-...), with which those of this cluster's"
            " Services would be mixed up. Stop that one, or use it for runs that bring servers: KUBECONFIG=..."
        )
    write_private(_file(settings), BOOT.read_text())


def removal(tables: Tables, prefix: str = CHAIN) -> str:
    """Return the input for `iptables-restore --noflush` that removes the chains with this prefix and all rules that jump to them."""
    text = []
    for table, lines in tables.items():
        if not (chains := _chains(lines, prefix)):
            continue
        into = [
            line.replace("-A ", "-D ", 1)
            for line in lines
            if line.startswith("-A ")
            and not line.startswith(f"-A {prefix}")
            and _target(line).startswith(prefix)
        ]
        text += [f"*{table}", *(f":{chain} - [0:0]" for chain in chains), *into]
        text += [*(f"-X {chain}" for chain in chains), "COMMIT"]
    return "".join(f"{line}\n" for line in text)


def _remove(family: str, prefix: str) -> None:
    """Remove the chains with this prefix. Also delete the built-in chains of an empty table, which would process every packet."""
    if text := removal(_saved(family), prefix):
        _run(f"{family}-restore", "--noflush", "--wait", text=text)
        for table, lines in _saved(family).items():
            if all(line.split()[1] == "ACCEPT" for line in lines):
                _run(
                    family, "--table", table, "--delete-chain"
                )  # older versions of iptables keep built-in chains


def clear(settings: Settings) -> None:
    """Remove kube-proxy's rules."""
    if not claimed(settings):
        return
    for family in FAMILIES:
        _remove(family, CHAIN)
    _file(settings).unlink()


def claimed(settings: Settings) -> bool:
    """Return whether kube-proxy's rules are this stack's. A claim from before the machine's last start does not count."""
    return _file(settings).exists() and _file(settings).read_text() == BOOT.read_text()


def guard(settings: Settings) -> None:
    """Drop packets to the pod network that come neither from its bridge nor from this machine. Raises StackError on failure.

    The servers listen on the bridge's address. Without these rules every machine that routes packets for this address here would reach the
    servers, and the pods while this machine forwards packets. The rules are stateless, so that the kernel need not track connections.
    """
    chain = settings.cgroup
    lines = [
        "*filter",
        f":{chain} - [0:0]",
        *(f"-A {chain} -i {link} -j RETURN" for link in (settings.bridge, "lo")),
        f"-A {chain} -j DROP",
        *(f"-I {hook} -d {settings.network} -j {chain}" for hook in ("INPUT", "FORWARD")),
        "COMMIT",
    ]
    _run("iptables-restore", "--noflush", "--wait", text="".join(f"{line}\n" for line in lines))


def guarded(settings: Settings) -> bool:
    """Return whether a rule of `guard` for this stack exists; False if the packet filter cannot be read."""
    try:
        return any(_chains(lines, settings.cgroup) for lines in _saved("iptables").values())
    except StackError:
        return False


def unguard(settings: Settings) -> None:
    """Remove the rules of `guard` if they exist."""
    if guarded(settings):
        _remove("iptables", settings.cgroup)
