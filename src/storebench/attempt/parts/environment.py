"""Read from a pod's environment which part of an operation the pod does, and meet the other parts (docs/protocol.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from storebench.attempt.parts.follower import Follower
from storebench.attempt.parts.interrupt import Interrupt
from storebench.attempt.parts.leader import Leader
from storebench.attempt.parts.part import Part
from storebench.attempt.parts.parts import Following, Leading, Parts
from storebench.errors import PartFailed, SpecError

PARTS, KEY, WAIT_S = "STOREBENCH_PARTS", "STOREBENCH_PARTS_KEY", "STOREBENCH_PARTS_WAIT_S"
POD, NODE = "STOREBENCH_POD", "STOREBENCH_NODE"
LEADER, INDEX = "STOREBENCH_LEADER", "JOB_COMPLETION_INDEX"
PORT = "STOREBENCH_PARTS_PORT"  # for parts that share one address, as processes of one machine do
LEADERS_PORT = 9111


def parts_of(
    stuck: Callable[[PartFailed], None] = lambda error: None, environment: Mapping[str, str] = os.environ
) -> Parts:
    """Return the parts of this pod's operation, and meet the other parts. The leader begins to listen, a follower connects.

    `stuck`: called if another part has failed and the main thread does not end. Raises SpecError for an environment that contradicts
    itself, and PartFailed if the leader does not answer.
    """
    if PARTS not in environment:
        return Parts()
    count, port = _whole(environment, PARTS, 2), LEADERS_PORT
    if PORT in environment:
        port = _whole(environment, PORT, 1)
    wait_s = float(_whole(environment, WAIT_S, 1))
    if not (key := environment.get(KEY, "")):
        raise SpecError(f"{KEY} is not set, and {PARTS} is: the parts of an operation share a key")
    interrupt = Interrupt(stuck)
    if LEADER not in environment:
        part = Part(0, count)
        return Leading(part, Leader(count, key, wait_s, port, interrupt), interrupt)
    part = Part(_whole(environment, INDEX, 0) + 1, count)
    if part.number >= count:
        raise SpecError(f"{INDEX} is {part.number - 1}: {count} parts have the indexes 0 to {count - 2}")
    join = {
        "key": key,
        "part": part.number,
        "pod": environment.get(POD, ""),
        "node": environment.get(NODE, ""),
    }
    return Following(part, Follower(part, environment[LEADER], port, join, wait_s, interrupt), interrupt)


def _whole(environment: Mapping[str, str], name: str, least: int) -> int:
    text = environment.get(name, "")
    if not text.isdecimal() or int(text) < least:
        raise SpecError(f"{name} is {text!r}, and must be a whole number of at least {least}")
    return int(text)
