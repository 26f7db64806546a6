"""The stack's cgroup, which contains all processes of the stack, however they were started."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


def is_v2(root: Path = ROOT) -> bool:
    return (root / "cgroup.controllers").exists()


def hierarchies(root: Path = ROOT) -> list[Path]:
    """Return the single hierarchy of version 2, or the mounted hierarchies of version 1."""
    if is_v2(root):
        return [root]
    return sorted(path for path in root.iterdir() if path.is_dir() and (path / "cgroup.procs").exists())


def create(name: str, root: Path = ROOT) -> None:
    for hierarchy in hierarchies(root):
        path = hierarchy / name
        path.mkdir(exist_ok=True)
        if hierarchy.name == "cpuset":  # a new cpuset is empty and accepts no process
            for file in ("cpuset.cpus", "cpuset.mems"):
                (path / file).write_text((hierarchy / file).read_text())
    if is_v2(root):
        controllers = (root / "cgroup.controllers").read_text().split()
        for path in (root, root / name):
            for controller in controllers:
                with contextlib.suppress(OSError):  # the kubelet reports a missing controller by name
                    (path / "cgroup.subtree_control").write_text(f"+{controller}")


def stack_procs(name: str, root: Path = ROOT) -> Path:
    """Return the file that adds processes to the servers' cgroup. Version 2 only allows processes in leaves; version 1 needs one
    hierarchy.
    """
    path = root / name / "stack" if is_v2(root) else root / "pids" / name
    path.mkdir(exist_ok=True)
    return path / "cgroup.procs"


def groups(name: str, root: Path = ROOT) -> Iterator[Path]:
    """Yield all cgroups of this name and their descendants, the innermost first."""
    for hierarchy in hierarchies(root):
        for path, _, _ in os.walk(hierarchy / name, topdown=False):
            yield Path(path)


def processes(name: str, root: Path = ROOT) -> set[int]:
    pids: set[int] = set()
    for group in groups(name, root):
        with contextlib.suppress(OSError):  # removed between listing and reading
            pids.update(int(pid) for pid in (group / "cgroup.procs").read_text().split())
    return pids - {0}


def remove(name: str, root: Path = ROOT) -> set[int]:
    """End every process in the cgroup, and remove the cgroup. Return the ids of the ended processes."""
    ended: set[int] = set()
    deadline = time.monotonic() + 30
    while running := processes(name, root):
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ended |= running
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    while remaining := [group for group in groups(name, root) if group.is_dir()]:
        for group in remaining:
            with contextlib.suppress(OSError):  # busy until the kernel has removed the last process
                group.rmdir()
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return ended
