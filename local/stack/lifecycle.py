"""Starting, stopping and cleaning the whole stack."""

import fcntl
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from local.stack import cgroup, environment, health, host, jobs, network, render, supervisor
from local.stack.settings import Settings, StackError

Say = Callable[[str], None]


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """One `up` or `down` at a time."""
    settings.home.mkdir(parents=True, exist_ok=True)
    with (settings.home / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StackError("Another `make` is starting or stopping this stack; wait for it.") from None
        yield


def _running_checkout(settings: Settings) -> str | None:
    path = settings.run / "checkout"
    return path.read_text() if path.exists() else None


def up(settings: Settings, say: Say) -> None:
    with _alone(settings):
        if supervisor.processes(settings) is not None:
            if (other := _running_checkout(settings)) != str(settings.checkout):
                raise StackError(
                    f"The stack in {settings.home} runs for the checkout {other}. `make stop` there or here first, "
                    "or give this checkout a home of its own: STOREBENCH_HOME=..."
                )
            if _reuse(settings, say):
                return
            _end(settings, say)
        else:
            _remove_leftovers(settings, say)
        _start(settings, say)


def _reuse(settings: Settings, say: Say) -> bool:
    recorded = settings.run / "fingerprint"
    if not recorded.exists() or recorded.read_text() != render.fingerprint(settings):
        say("the stack's configuration has changed: starting it anew")
        return False
    for name in health.checks(settings):
        if complaint := health.complaint(name, settings):
            say(f"{name} does not answer ({complaint}): starting the stack anew")
            return False
    image = render.image(settings)["image"]
    if environment.read(settings.env_file)["STOREBENCH_IMAGE_PYTHON"] != image:
        say(f"importing the new pod image {image}")
        if "kubernetes" not in settings.own:
            jobs.images(settings)
        render.write_environment(settings)
        jobs.airflow_variables(settings)
    say("the stack is running")
    return True


def _start(settings: Settings, say: Say) -> None:
    host.check_rights()
    for folder in (settings.run, settings.data, settings.log):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    host.check_space(settings)
    host.check_ports(settings, _ports(settings))
    host.check_network(settings)
    network.save_sysctls(settings)
    network.create_bridge(settings)
    cgroup.create(settings.cgroup)
    render.write_all(settings)
    variables = render.write_environment(settings)
    for log in settings.log.glob("*.log"):
        log.replace(log.with_suffix(".log.1"))
    supervisor.start(settings, variables)
    _wait(settings, say)


def _ports(settings: Settings) -> list[str]:
    kubernetes = ("kubernetes", "kubelet", "kubelet_health", "controller_manager", "scheduler")
    left_out = {*settings.own, *(kubernetes if "kubernetes" in settings.own else ())}
    return [name for name in settings.ports if name not in left_out]


def _wait(settings: Settings, say: Say) -> None:
    """Waits until every part answers; ends with the reason as soon as a process gives up."""
    started = time.monotonic()
    waiting = list(health.checks(settings))
    complaints: dict[str, str] = {}
    say(f"waiting for {', '.join(waiting)}")
    while True:
        time.sleep(0.5)
        elapsed = time.monotonic() - started
        states = supervisor.processes(settings)
        if states is not None:
            supervisor.failures(settings, states)
        elif elapsed > 20:
            raise StackError(f"The supervisor does not answer. Its log: {settings.log / 'supervisor.log'}")
        for name in list(waiting):
            if complaint := health.complaint(name, settings):
                complaints[name] = complaint
                if elapsed > (limit := health.TIME_LIMITS.get(name, health.TIME_LIMIT)):
                    raise StackError(
                        f"{name} does not answer after {limit} s: {complaint}\nThe logs of its processes: "
                        + ", ".join(str(path) for path in _logs(settings, name))
                    )
            else:
                waiting.remove(name)
                say(f"{name}: ready after {elapsed:.0f} s")
        if not waiting and states and all(state["status"] in ("Running", "Completed") for state in states):
            jobs.airflow_variables(settings)
            return


def _logs(settings: Settings, part: str) -> list[object]:
    processes = render.project(settings)["processes"].items()
    return [settings.log / f"{name}.log" for name, process in processes if process["namespace"] == part]


def down(settings: Settings, say: Say) -> None:
    with _alone(settings):
        _end(settings, say)


def _end(settings: Settings, say: Say) -> None:
    if supervisor.processes(settings) is not None:
        say("stopping the stack")
        supervisor.stop(settings)
    _remove(settings)


def _remove_leftovers(settings: Settings, say: Say) -> None:
    """Cleans up after a crash: what is found here was not ended by `down`."""
    if not settings.run.exists() or not (settings.run / "fingerprint").exists():
        return
    say("the stack was not stopped when it ended last: removing what it left")
    ended = _remove(settings)
    if ended:
        say(f"ended {len(ended)} processes of it")
    # Its database of containers may be torn by a power cut; the images come from their archives again.
    shutil.rmtree(settings.data / "containerd", ignore_errors=True)


def _remove(settings: Settings) -> set[int]:
    ended = cgroup.remove(settings.cgroup)
    # All mounts were in the namespace of those processes and went with them; but see that it is so.
    for mount in _mounts(settings):
        subprocess.run(["umount", "--lazy", mount], check=False)
    network.remove_bridge(settings)
    network.restore_sysctls(settings)
    shutil.rmtree(settings.run, ignore_errors=True)
    return ended


def _mounts(settings: Settings) -> list[str]:
    with open("/proc/self/mountinfo") as file:
        points = [line.split()[4] for line in file]
    return [point for point in reversed(points) if point.startswith(f"{settings.home}/")]


def status(settings: Settings, say: Say) -> bool:
    states = supervisor.processes(settings)
    if states is None:
        say("the stack is not running")
        return False
    healthy = True
    for name in health.checks(settings):
        complaint = health.complaint(name, settings)
        healthy = healthy and complaint is None
        say(f"{name}: {complaint or 'healthy'}")
    for state in sorted(states, key=lambda state: state["name"]):
        memory = state.get("mem", 0) / 1024**2
        say(f"  {state['name']:26} {state['status']:10} pid {state['pid']:<8} {memory:6.0f} MB")
    return healthy


def clean(settings: Settings, say: Say) -> None:
    down(settings, say)
    if settings.home.exists():
        say(f"removing {settings.home}")
        subprocess.run(["chmod", "-R", "u+w", str(settings.home / "go")], check=False, capture_output=True)
        shutil.rmtree(settings.home)
