"""The stack's rules in the packet filter. Only the standard library is used: `make stop` calls this module.

One chain is the stack's own (`guard`): it keeps others from the pod network. The other chains are of kube-proxy, which does not remove them
when it ends. Their names are the same on every machine. So kube-proxy is not started where there are such chains already, and all such
chains that there are afterwards are this stack's.
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
    """Marks the rules as this stack's: it has the boot of the machine whose rules they are."""
    return settings.home / "packet-filter"


def _run(program: str, *arguments: str, text: str | None = None) -> str:
    path = shutil.which(program, path=_PATH)
    if path is None:
        raise StackError(f"There is no {program}: install the package iptables")
    done = subprocess.run([path, *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StackError(f"{program} {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def tables(text: str) -> Tables:
    """Parse the output of `iptables-save` into lines by table."""
    found: Tables = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("*"):
            lines = found.setdefault(line[1:], [])
        elif line.startswith((":", "-A ")):
            lines.append(line)
    return found


def _chains(lines: list[str], prefix: str = CHAIN) -> list[str]:
    return [name for line in lines if (name := line[1:].split()[0]).startswith(prefix) and line[0] == ":"]


def _saved(family: str) -> Tables:
    return tables(_run(f"{family}-save")) if shutil.which(f"{family}-save", path=_PATH) else {}


def _target(rule: str) -> str:
    words = shlex.split(rule)  # a comment is one of them
    return words[words.index("-j") + 1] if "-j" in words else ""


def claim(settings: Settings) -> None:
    """Before kube-proxy starts; raises StackError where another cluster's has its rules."""
    if claimed(settings):
        return
    if any(_chains(lines) for family in FAMILIES for lines in _saved(family).values()):
        raise StackError(
            "The packet filter of this machine has rules of another Kubernetes (chains KUBE-...), with which those of this cluster's"
            " Services would be mixed up. Stop that one, or use it for runs that bring servers: KUBECONFIG=..."
        )
    write_private(_file(settings), BOOT.read_text())


def removal(found: Tables, prefix: str = CHAIN) -> str:
    """Return the input that makes `iptables-restore --noflush` remove the chains with this prefix, and the rules that lead into them."""
    text = []
    for table, lines in found.items():
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
    """Remove the chains with this prefix. Of a table in which there is nothing else its own chains go, too: each would look at every packet."""
    if text := removal(_saved(family), prefix):
        _run(f"{family}-restore", "--noflush", "--wait", text=text)
        for table, lines in _saved(family).items():
            if all(line.split()[1] == "ACCEPT" for line in lines):
                _run(family, "--table", table, "--delete-chain")  # an older iptables keeps them


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
    """Drop packets to the pod network that came in neither by its bridge nor from this machine; raise StackError where that cannot be done.

    The servers listen on the bridge's address. Without these rules every machine that sends packets for that address here would reach the
    servers, and the pods while this machine forwards packets. No rule asks for connections: the kernel would then keep account of each one.
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
    """Whether there is a rule of `guard` for this stack. There is none where the packet filter cannot be read."""
    try:
        return any(_chains(lines, settings.cgroup) for lines in _saved("iptables").values())
    except StackError:
        return False


def unguard(settings: Settings) -> None:
    """Remove the rules of `guard`, if there are any."""
    if guarded(settings):
        _remove("iptables", settings.cgroup)
