"""Starting the whole stack, and saying how it is."""

import time

from local.stack import cgroup, environment, health, host, jobs, network, render, supervisor, teardown
from local.stack.settings import OWN_SERVERS, Settings, StackError
from local.stack.teardown import Say


def _running_checkout(settings: Settings) -> str | None:
    path = settings.run / "checkout"
    return path.read_text() if path.exists() else None


def up(settings: Settings, say: Say) -> None:
    with teardown.alone(settings):
        if supervisor.processes(settings) is not None:
            if (other := _running_checkout(settings)) != str(settings.checkout):
                raise StackError(
                    f"The stack in {settings.home} runs for the checkout {other}. `make stop` there or here first, "
                    "or give this checkout a home of its own: STOREBENCH_HOME=..."
                )
            if _reuse(settings, say):
                return
            teardown.end(settings, say)
        else:
            teardown.remove_leftovers(settings, say)
        _start(settings, say)


def _reuse(settings: Settings, say: Say) -> bool:
    recorded = settings.run / "fingerprint"
    if not recorded.exists() or recorded.read_text() != render.fingerprint(settings):
        say("the stack's configuration has changed: starting it anew")
        return False
    sick = {name: why for name in health.checks(settings) if (why := health.complaint(name, settings))}
    if sick and not _comes_up(settings, recorded.stat().st_mtime, say):
        name, why = next(iter(sick.items()))
        say(f"{name} does not answer ({why}): starting the stack anew")
        return False
    known = environment.read(settings.env_file).values()
    if new := [image for image in render.images(settings).values() if image not in known]:
        say(f"importing {' and '.join(new)}")
        if "kubernetes" not in settings.own:
            jobs.images(settings)
        render.write_environment(settings)
        jobs.airflow_variables(settings)
    say("the stack is running")
    return True


def _comes_up(settings: Settings, started: float, say: Say) -> bool:
    """Whether a stack becomes healthy that was left while it was starting, by an interrupt for one."""
    if time.time() - started > max(health.time_limit(name, settings) for name in health.CHECKS):
        return False
    say("the stack is already being started")
    try:
        _wait(settings, say)
    except StackError as error:
        say(str(error))
        return False
    return True


def _say_what_is_own(settings: Settings, say: Say) -> None:
    """Names the parts that are the user's, and what their pods cannot reach: pods have no route beyond this machine."""
    for part in sorted(settings.own):
        say(f"{part}: your own, by {OWN_SERVERS[part]}")
    embedded = [part for part in ("s3", "mongodb", "elasticsearch") if part not in settings.own]
    if "kubernetes" not in settings.own and len(embedded) < 3:
        say(
            "pods of the embedded cluster reach only servers at an address of this machine; use KUBECONFIG for others"
        )
    if "kubernetes" in settings.own and embedded:
        say(
            f"your cluster must reach the embedded {' and '.join(embedded)} at {settings.gateway}, an address of this machine"
        )


def _start(settings: Settings, say: Say) -> None:
    host.check(settings, say)
    _say_what_is_own(settings, say)
    for folder in (settings.run, settings.data, settings.log):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    network.save_sysctls(settings)
    network.create_bridge(settings)
    cgroup.create(settings.cgroup)
    for node in settings.nodes[1:]:
        cgroup.create(settings.node_cgroup(node))
    render.write_all(settings)
    variables = render.write_environment(settings)
    for log in settings.log.glob("*.log"):
        log.replace(log.with_suffix(".log.1"))
    supervisor.start(settings, variables)
    _wait(settings, say)


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
                if elapsed > (limit := health.time_limit(name, settings)):
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
