"""Wait until the stack's parts answer, and record the time of each for later estimates."""

import json
import time
from collections.abc import Iterable
from pathlib import Path

from local.progress import Screen, duration, going
from local.stack import health, jobs, parts, render, supervisor
from local.stack.settings import Settings, StackError

SETTLED = ("Running", "Completed")
SAY_EVERY_S = 60  # seconds between lines without a terminal


def wait(settings: Settings, names: Iterable[str], screen: Screen) -> dict[str, float]:
    """Wait until parts answer. Return the seconds until each part answered.

    Raises StackError as soon as a process gives up, or a part exceeds its time limit.
    """
    began = said = time.monotonic()
    complaints = dict.fromkeys(names, "")  # complaints of parts that do not answer yet
    earlier, ready = _earlier(settings), {}
    # A stack that has run for long may already have restarts.
    restarts = {state["name"]: state["restarts"] for state in supervisor.processes(settings) or []}
    known = [earlier[name] for name in complaints if name in earlier]
    about = f" (about {duration(max(known))})" if known else ""
    screen.say(f"waiting for {', '.join(complaints)}{about}")
    try:
        while True:
            time.sleep(0.5)
            elapsed = time.monotonic() - began
            states = supervisor.processes(settings)
            if states is not None:
                # stopped servers ended with a signal
                stopped = parts.ON_DEMAND - parts.started(settings)
                states = [
                    {**state, "restarts": state["restarts"] - restarts.get(state["name"], 0)}
                    for state in states
                    if state["namespace"] not in stopped
                ]
                supervisor.failures(settings, states)
            elif elapsed > 20:
                raise StackError(
                    f"The supervisor does not answer. Its log: {settings.log / 'supervisor.log'}"
                )
            for name in list(complaints):
                if complaint := health.complaint(name, settings):
                    complaints[name] = complaint
                    _give_up(settings, name, elapsed, complaint)
                else:
                    del complaints[name]
                    ready[name] = elapsed
                    screen.say(f"{name}: ready after {elapsed:.0f} s")
            unsettled = [state["name"] for state in states or () if state["status"] not in SETTLED]
            if not complaints and states and not unsettled:
                jobs.airflow_variables(settings)
                return ready
            lacking = complaints or dict.fromkeys(unsettled, "is being started")
            screen.show(
                [
                    going(name, elapsed, duration(earlier[name]) if name in earlier else None, why)
                    for name, why in lacking.items()
                ]
            )
            if not screen.draws and time.monotonic() - said >= SAY_EVERY_S:
                said = time.monotonic()
                for name, why in lacking.items():
                    screen.say(f"{name}: not ready after {elapsed:.0f} s: {why}")
    finally:
        screen.show([])


def _give_up(settings: Settings, name: str, elapsed: float, complaint: str) -> None:
    """Raise StackError if a part exceeds its time limit."""
    if elapsed > (limit := health.time_limit(name, settings)):
        raise StackError(
            f"{name} does not answer after {limit} s: {complaint}\nThe logs of its processes: "
            + ", ".join(str(path) for path in _logs(settings, name))
        )


def _logs(settings: Settings, part: str) -> list[Path]:
    processes = render.project(settings)["processes"].items()
    return [settings.log / f"{name}.log" for name, process in processes if process["namespace"] == part]


def record(settings: Settings, ready: dict[str, float]) -> None:
    """Record the seconds until parts answered, for estimates at the next start."""
    times = _earlier(settings) | {name: round(seconds) for name, seconds in ready.items()}
    unfinished = _file(settings).with_suffix(".new")
    unfinished.write_text(json.dumps(times))
    unfinished.replace(_file(settings))


def _earlier(settings: Settings) -> dict[str, float]:
    path = _file(settings)
    times: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
    return times


def _file(settings: Settings) -> Path:
    return settings.log / "ready.json"
