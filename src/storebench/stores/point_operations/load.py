"""Generate load by Locust, as in the study.

In a closed load each user sends a request, waits for the answer, and continues. In an open load and in the steps of a ramp, requests are
planned at equal distances, and the users share them. The latency of a request counts from its planned start, also if it begins late because
all users wait for answers.

Locust and the stores' clients use gevent here, which replaces parts of Python's library. So the load generator is a separate process,
started by `generators`. It reads a JSON job from standard input, reports that it is ready, waits for the time to begin, and writes its log
to a file. Then standard input has commands: a number asks for the counts of that part of the schedule; `step` plans a further part, with the
second of its start, requests per second, and seconds; `drop` forgets the planned requests that have not begun. Any other word ends the
process.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from storebench import redact
from storebench.connection import Connection
from storebench.stores import load
from storebench.stores.point_operations import requests
from storebench.stores.point_operations.arrivals import Arrivals
from storebench.stores.point_operations.base import PointStore
from storebench.stores.point_operations.entities import entity
from storebench.stores.point_operations.generators import READY
from storebench.stores.point_operations.keys import drawn, kinds

WATCH_S = 1.0  # seconds between two counts of users


def main() -> None:
    """Run the job from standard input."""
    import gevent
    from gevent.event import Event
    from gevent.select import select
    from locust import User, constant, task
    from locust.env import Environment
    from locust.exception import StopUser

    redact.guard()
    commands = open(0, "rb", buffering=0)  # noqa: SIM115 - a buffer would hide a further command from select
    job: dict[str, Any] = json.loads(commands.readline())
    store = load(job["study"], job["store"])(
        client=job["client"],
        target=job["target"],
        connection=Connection(**job["connection"]) if job["connection"] else None,
        values=job["values"],
        operation=job["operation"],
    )
    assert isinstance(store, PointStore)
    sender = store.sender()
    sender.connect()
    log = requests.Log()
    once = _operation(sender, job)
    seen: set[int] = set()  # kinds of errors that the pod's log has
    planned, from_s = Arrivals(job["stream"], job["streams"]), 0.0
    for rate, seconds in job["schedule"]:
        planned.add(from_s, rate, seconds)
        from_s += seconds
    scheduled = planned.parts > 0
    in_time: Counter[int] = Counter()  # by part of the schedule, as `failed`
    failed: Counter[int] = Counter()
    in_flight = 0  # number of requests without an answer
    more = Event()  # set when a further part is planned, and at the end
    over = (
        Event()
    )  # set at the end, so that users end themselves: Locust would cut a request, which no log would have

    def following() -> tuple[int, float]:
        """Return the part and the planned start of the next request; wait for a further part if the load goes by steps."""
        while (found := planned.next()) is None:
            if over.is_set() or not job["stepped"]:
                raise StopUser
            more.wait()
        return found

    class EntityUser(User):
        wait_time = constant(0)

        @task
        def request(self) -> None:
            nonlocal in_flight
            meant_s = part = None
            if over.is_set():
                raise StopUser
            if scheduled:
                part, since_s = following()
                meant_s = begin_s + since_s
                if over.wait(max(0.0, meant_s - time.monotonic())):
                    raise StopUser
            in_flight += 1
            try:
                number, began_s, served_s, outcome, error = once()
            except Exception as broken:  # noqa: BLE001 - Locust would continue without it
                redact.print_error(broken)
                os._exit(1)
            in_flight -= 1
            if meant_s is None:
                meant_s = began_s
            latency_s = began_s + served_s - meant_s
            log.note(number, meant_s, latency_s, served_s, outcome)
            if part is not None:
                failed[part] += outcome != requests.DONE
                in_time[part] += outcome == requests.DONE and latency_s <= job["slo_s"]
            if error and outcome not in seen:
                seen.add(outcome)
                print(redact.redacted(f"the first {requests.OUTCOMES[outcome]}: {error!r}"), flush=True)
            self.environment.events.request.fire(
                request_type=job["operation"],
                name="entity",
                response_time=served_s * 1000,
                response_length=0,
                exception=error,
                context={},
            )

    environment = Environment(user_classes=[EntityUser])
    runner = environment.create_local_runner()
    print(READY, flush=True)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # other output goes to the pod's log
    begin_s = float(commands.readline())
    end_s = begin_s + job["seconds"]
    gevent.sleep(max(0.0, begin_s - time.monotonic()))
    runner.start(job["users"], spawn_rate=job["spawn_rate"])
    users: list[tuple[float, int]] = []
    while (remaining_s := end_s - time.monotonic()) > 0:
        users.append((time.monotonic(), runner.user_count))
        if select([commands], [], [], min(WATCH_S, remaining_s))[0]:
            command, *numbers = commands.readline().decode().split() or [""]
            if command.isdigit():
                print(in_time[int(command)], failed[int(command)], in_flight, file=answers, flush=True)
            elif command == "step":
                planned.add(*map(float, numbers))
                awake, more = more, Event()
                awake.set()
            elif command == "drop":
                planned.drop()
            else:
                break
    users.append(
        (min(time.monotonic(), end_s - 0.001), runner.user_count)
    )  # count the users of the last second, if not counted
    over.set()
    more.set()
    runner.user_greenlets.join(timeout=job["timeout_s"] + 1)  # wait for requests in flight
    runner.quit()  # cuts hanging requests, which are logged as timed out
    log.save(Path(job["file"]), users)
    sender.close()


def _operation(sender: Any, job: dict[str, Any]) -> Callable[[], tuple[int, float, float, int, Any]]:
    """Return a function that sends a request: a read, a write, or either.

    The function returns the entity's number, the second of the request's begin, its seconds, its outcome, and its error. Only the time
    between the two readings of the clock is its latency."""
    from gevent import GreenletExit

    seed, stream, clock = job["seed"], job["stream"], time.monotonic
    fresh = count(job["rows"] + stream, job["streams"])
    filled = drawn(job["key_distribution"], job["rows"], seed, stream)

    def ending(error: BaseException) -> int:
        return requests.TIMEOUT if isinstance(error, GreenletExit) else int(sender.outcome(error))

    def write() -> tuple[int, float, float, int, Any]:
        number = next(fresh)
        new = entity(seed, number)
        began_s = clock()
        try:
            sender.insert(new)
        except (Exception, GreenletExit) as error:  # noqa: BLE001 - each kind is counted
            return number, began_s, clock() - began_s, ending(error), error
        return number, began_s, clock() - began_s, requests.DONE, None

    def read() -> tuple[int, float, float, int, Any]:
        number = next(filled)
        wanted = entity(seed, number)
        began_s = clock()
        try:
            fields = sender.get(wanted.id)
        except (Exception, GreenletExit) as error:  # noqa: BLE001 - each kind is counted
            return number, began_s, clock() - began_s, ending(error), error
        served_s = clock() - began_s
        if fields is None:
            return number, began_s, served_s, requests.MISSING, LookupError(f"{wanted.id} is not there")
        if tuple(fields) != tuple(wanted):
            return number, began_s, served_s, requests.WRONG, ValueError(f"{fields} is not {wanted}")
        return number, began_s, served_s, requests.DONE, None

    if job["operation"] == "read":
        return read
    if not job["read_share"]:
        return write
    is_read = kinds(job["read_share"], seed, stream)
    return lambda: read() if next(is_read) else write()


if __name__ == "__main__":
    main()
