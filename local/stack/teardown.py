"""Stop the stack, remove leftovers of a crash, and delete all built files.

Only the standard library and modules without other imports are used: this must also work without the environment.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from local.stack import cgroup, network, packet_filter, supervisor
from local.stack.settings import Settings, StackError

Say = Callable[[str], None]


@contextmanager
def alone(settings: Settings, patience_s: float = 0) -> Iterator[None]:
    """Allow one start or stop at a time. Wait up to `patience_s` for the end of another."""
    settings.home.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + patience_s
    with (settings.home / "lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise StackError(
                        "Another `make` is starting or stopping this stack, or it starts or stops a server for a run: try again in a"
                        " minute."
                    ) from None
            time.sleep(0.2)
        yield


def remains(settings: Settings) -> list[str]:
    """Return the remains of a stack that runs or ended without `stop`, identified by this stack's marks."""
    leftovers = []
    if pids := cgroup.processes(settings.cgroup):
        leftovers.append(f"{len(pids)} processes")
    if any(group.is_dir() for group in cgroup.groups(settings.cgroup)):
        leftovers.append("a cgroup")
    leftovers += [f"the network link {link}" for link in network.own_bridges(settings)]
    if packet_filter.claimed(settings) or packet_filter.guarded(settings):
        leftovers.append("rules in the packet filter")
    leftovers += [f"the mount {point}" for point in mounts(settings)]
    if (settings.run / "fingerprint").exists():
        leftovers.append(f"state in {settings.run}")
    return leftovers


def mounts(settings: Settings, mountinfo: Path = Path("/proc/self/mountinfo")) -> list[str]:
    """Return the mounts in the home, the innermost first. Usually there are none, since the stack has its own mount namespace."""
    points = [line.split()[4] for line in mountinfo.read_text().splitlines()]
    return [point for point in reversed(points) if point.startswith(f"{settings.home}/")]


def remove(settings: Settings) -> None:
    """End every process of the stack, and remove everything else that it has at run time."""
    cgroup.remove(settings.cgroup)
    for point in mounts(settings):
        subprocess.run(["umount", "--lazy", point], check=False)
    packet_filter.clear(settings)
    network.remove_bridges(settings)
    packet_filter.unguard(settings)
    network.restore_sysctls(settings)
    shutil.rmtree(settings.run, ignore_errors=True)


def remove_leftovers(settings: Settings, say: Say) -> None:
    """Remove the remains of a stack that ended without `stop`."""
    if leftovers := remains(settings):
        say(f"the stack was not stopped when it ended last: removing {', '.join(leftovers)}")
        remove(settings)
        # A power cut may damage containerd's database; its images are linked again from the builder's store.
        for folder in settings.data.glob("containerd*"):
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(settings: Settings, say: Say) -> None:
    """Remove the remains of other homes' stacks without processes: a leftover bridge would occupy the pod network."""
    for home in network.homes():
        other = Settings(home=home)
        if home != settings.home and not cgroup.processes(other.cgroup):
            say(f"the stack in {home} was not stopped when it ended: removing what is left of it")
            remove(other)


def end(settings: Settings, say: Say) -> None:
    if supervisor.processes(settings) is not None:
        say("stopping the stack")
        supervisor.stop(settings)
    remove(settings)


def stop(settings: Settings, say: Say) -> None:
    if settings.home.exists():
        with alone(settings):
            end(settings, say)


def end_setup(settings: Settings) -> None:
    """End steps of the set-up that outlived their `make`. Their processes inherit a mark."""
    mark = f"STOREBENCH_SETUP={settings.home}".encode()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        pids = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if _has(path, mark)]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not pids:
            return
        time.sleep(0.1)


def _has(environ: Path, mark: bytes) -> bool:
    try:
        return mark in environ.read_bytes().split(b"\0")
    except OSError:  # the process has ended
        return False


def clean(settings: Settings, say: Say) -> None:
    if not settings.home.exists():
        return
    stop(settings, say)
    end_setup(settings)
    say(f"removing {settings.home}")
    shutil.rmtree(settings.home)


def main(arguments: list[str]) -> int:
    commands = {"stop": stop, "clean": clean}
    if len(arguments) != 1 or arguments[0] not in commands:
        print(f"usage: python3 -m local.stack.teardown {' | '.join(commands)}", file=sys.stderr)
        return 2
    if os.geteuid() != 0:
        # Without root no stack can run, but a refused set-up may have left files of this user.
        commands = {"stop": lambda settings, say: None, "clean": _clean_files}
    try:
        commands[arguments[0]](Settings(), lambda text: print(text, flush=True))
    except (StackError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _clean_files(settings: Settings, say: Say) -> None:
    if settings.home.exists():
        say(f"removing {settings.home}")
        shutil.rmtree(settings.home)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
