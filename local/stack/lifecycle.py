"""Start the stack and its servers, and print its state."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from local.progress import Screen
from local.stack import (
    cgroup,
    disk,
    environment,
    health,
    host,
    idle,
    jobs,
    network,
    packet_filter,
    parts,
    render,
    services,
    supervisor,
    teardown,
    waiting,
)
from local.stack.settings import OWN_SERVERS, Settings, StackError
from local.stack.teardown import Say

WAKE_PATIENCE_S = 300  # seconds to wait for the end of another start or stop


def up(settings: Settings, servers: frozenset[str], screen: Screen) -> None:
    """Start the stack with these servers of parts.ON_DEMAND, or start the servers that a running stack lacks."""
    servers -= parts.left_out(settings)
    with teardown.alone(settings):
        host.check_checkout(settings)
        if supervisor.processes(settings) is not None:
            if _reuse(settings, servers, screen):
                return
            servers |= parts.started(settings)
            teardown.end(settings, screen.say)
        else:
            teardown.remove_leftovers(settings, screen.say)
        _start(settings, servers, screen)


def _reuse(settings: Settings, servers: frozenset[str], screen: Screen) -> bool:
    recorded = settings.run / "fingerprint"
    if not recorded.exists() or recorded.read_text() != render.fingerprint(settings):
        screen.say("the stack's configuration has changed: starting it anew")
        return False
    sick = {name: why for name in health.checks(settings) if (why := health.complaint(name, settings))}
    if sick and not _comes_up(settings, recorded.stat().st_mtime, screen):
        name, why = next(iter(sick.items()))
        screen.say(f"{name} does not answer ({why}): starting the stack anew")
        return False
    known = environment.read(settings.env_file).values()
    if new := [image for image in render.images(settings).values() if image not in known]:
        screen.say(f"adding to the cluster: {' and '.join(new)}")
        if "kubernetes" not in settings.own:
            jobs.images(settings)
        render.write_environment(settings)
        jobs.airflow_variables(settings)
    _ask_for(settings, servers, screen)
    screen.say("the stack is running")
    return True


def wake(settings: Settings, servers: frozenset[str], screen: Screen) -> None:
    """Start the servers that the running stack has stopped, and wait until they answer.

    A run's plan calls this inside the stack, so it never restarts the stack and builds nothing. Raises StackError on failure.
    """
    if unbuilt := sorted(servers - parts.built(settings)):
        raise StackError(f"{' and '.join(unbuilt)} was not built yet")
    with teardown.alone(settings, WAKE_PATIENCE_S):
        if not _ask_for(settings, servers, screen):
            waiting.wait(settings, sorted(servers), screen)


def _ask_for(settings: Settings, servers: frozenset[str], screen: Screen) -> frozenset[str]:
    """Start the servers that the running stack lacks, and return them."""
    lacking = servers - parts.started(settings)
    with _still_noticed(settings):
        parts.record(settings, servers)
    if lacking:
        _add(settings, lacking, screen)
    return lacking


@contextmanager
def _still_noticed(settings: Settings) -> Iterator[None]:
    """Renew the fingerprint after the block starts servers, unless the checkout changed earlier: the next `up` must notice that change."""
    unchanged = (settings.run / "fingerprint").read_text() == render.fingerprint(settings)
    yield
    if unchanged:
        render.write_fingerprint(settings)


def _add(settings: Settings, servers: frozenset[str], screen: Screen) -> None:
    """Start servers after the services that they depend on, and wait for them."""
    for name, process in render.project(settings)["processes"].items():
        if process["namespace"] in servers:
            start = (
                supervisor.run_job if process["availability"]["restart"] == "no" else supervisor.start_process
            )
            start(settings, name)
    waiting.record(settings, waiting.wait(settings, sorted(servers), screen))


def stop_idle(settings: Settings, say: Say) -> None:
    """Stop the servers that no run has needed for a while. The next `up` for their stores starts them again."""
    with teardown.alone(settings):
        for server in idle.servers(settings):
            say(f"stopping {server}: no run has needed it for {idle.minutes(settings, server)} minutes")
            _remove(settings, server)


def _remove(settings: Settings, server: str) -> None:
    states = {state["name"]: state for state in supervisor.processes(settings) or []}
    for name, process in reversed(render.project(settings)["processes"].items()):
        if process["namespace"] == server and states[name]["status"] in ("Running", "Restarting"):
            supervisor.stop_process(settings, name)
    if server == parts.SERVICES:
        services.end(settings)
    with _still_noticed(settings):
        parts.forget(settings, server)


def _comes_up(settings: Settings, started: float, screen: Screen) -> bool:
    """Wait for a stack whose start was interrupted. Return whether it becomes healthy."""
    if time.time() - started > max(health.time_limit(name, settings) for name in health.CHECKS):
        return False
    screen.say("the stack is already being started")
    try:
        waiting.wait(settings, health.checks(settings), screen)
    except StackError as error:
        screen.say(str(error))
        return False
    return True


def _say_what_is_own(settings: Settings, say: Say) -> None:
    """Print the user's own parts, and the parts that pods cannot reach: pods have no route beyond this machine."""
    for part in sorted(settings.own):
        say(f"{part}: your own, by {OWN_SERVERS[part]}")
    embedded = [part for part in ("s3", "mongodb", "elasticsearch") if part not in settings.own]
    if "kubernetes" not in settings.own and len(embedded) < 3:
        say(
            "pods of the embedded cluster reach only servers at an address of this machine; use KUBECONFIG for others"
        )
    if "kubernetes" in settings.own and embedded:
        say(
            f"your cluster must reach the embedded {' and '.join(embedded)} at {settings.gateway}, an address of this machine."
            " Other machines that have a route to this one reach them, too"
        )


def _start(settings: Settings, servers: frozenset[str], screen: Screen) -> None:
    host.check(settings, screen.say)
    _say_what_is_own(settings, screen.say)
    for folder in (settings.run, settings.data, settings.log):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    network.save_sysctls(settings)
    if "kubernetes" not in settings.own:  # a cluster elsewhere must reach the servers
        packet_filter.guard(settings)
    network.create_bridge(settings)
    cgroup.create(settings.cgroup)
    for node in settings.nodes[1:]:
        cgroup.create(settings.node_cgroup(node))
    parts.record(settings, servers)
    render.write_all(settings)
    disk.measure(settings, screen.say)
    variables = render.write_environment(settings)
    for log in settings.log.glob("*.log"):
        log.replace(log.with_suffix(".log.1"))
    supervisor.start(settings, variables)
    waiting.record(settings, waiting.wait(settings, health.checks(settings), screen))


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
    for name in sorted(parts.SERVERS - parts.started(settings) - settings.own):
        say(f"{name}: not running, as no run needs it. `make up STORES={name}` starts it")
    for state in sorted(states, key=lambda state: state["name"]):
        memory = state.get("mem", 0) / 1024**2
        say(f"  {state['name']:26} {state['status']:10} pid {state['pid']:<8} {memory:6.0f} MB")
    return healthy
