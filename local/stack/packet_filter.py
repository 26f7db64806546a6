"""The packet filter's rules of kube-proxy, which it does not take along when it ends. Only the standard library is used: `make stop` calls this.

The names of its chains are the same on every machine. So it is not started where there are such chains already, and all that there are
afterwards are this stack's.
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


def _chains(lines: list[str]) -> list[str]:
    return [name for line in lines if (name := line[1:].split()[0]).startswith(CHAIN) and line[0] == ":"]


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


def removal(found: Tables) -> str:
    """Return the input with which `iptables-restore --noflush` removes kube-proxy's chains and the rules that jump to them, nothing else."""
    text = []
    for table, lines in found.items():
        if not (chains := _chains(lines)):
            continue
        into = [
            line.replace("-A ", "-D ", 1)
            for line in lines
            if line.startswith("-A ")
            and not line.startswith(f"-A {CHAIN}")
            and _target(line).startswith(CHAIN)
        ]
        text += [f"*{table}", *(f":{chain} - [0:0]" for chain in chains), *into]
        text += [*(f"-X {chain}" for chain in chains), "COMMIT"]
    return "".join(f"{line}\n" for line in text)


def clear(settings: Settings) -> None:
    """Removes the rules. Of a table in which there is nothing else its own chains go, too: each would look at every packet."""
    if not claimed(settings):
        return
    for family in FAMILIES:
        if text := removal(_saved(family)):
            _run(f"{family}-restore", "--noflush", text=text)
            for table, lines in _saved(family).items():
                if all(line.split()[1] == "ACCEPT" for line in lines):
                    _run(family, "--table", table, "--delete-chain")  # an older iptables keeps them
    _file(settings).unlink()


def claimed(settings: Settings) -> bool:
    """Return whether kube-proxy's rules are this stack's. A claim from before the machine's last start does not count."""
    return _file(settings).exists() and _file(settings).read_text() == BOOT.read_text()
