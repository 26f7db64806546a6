"""Find out after a fault when all copies of the data are whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event

WITHIN_S = 120.0  # seconds after the load in which the copies must be whole
PAUSE_S = 1.0  # seconds between two questions
NEVER_S = float("inf")


def caught_up(ask: Callable[[], bool | None], since_s: float, over: Event) -> float | None:
    """Return the seconds from `since_s` until all copies were whole and stayed whole to the end of the load. `since_s` is on the monotonic clock.

    `ask`: returns whether all copies are whole; None if no server reports this. `over`: set at the end of the load; from then on, no
    write makes a copy incomplete. Returns None if no server reports on copies, and NEVER_S if a copy is not whole WITHIN_S after the load.
    """
    whole_s = until_s = None
    while True:
        is_over = over.is_set()
        answer = ask()
        asked_s = time.monotonic()
        if answer is None:
            return None
        whole_s = (asked_s if whole_s is None else whole_s) if answer else None
        if is_over and whole_s is not None:
            return max(0.0, whole_s - since_s)
        if is_over and until_s is None:
            until_s = asked_s + WITHIN_S
        if until_s is not None and asked_s > until_s:
            return NEVER_S
        time.sleep(PAUSE_S)
