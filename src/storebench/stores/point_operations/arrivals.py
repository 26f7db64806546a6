"""When the requests of a load that keeps its rates are to begin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

# Parts of a load one after the other: requests a second, and seconds.
Schedule = Sequence[tuple[float, float]]


def asked(rate: float, seconds: float) -> int:
    """How many requests are to begin in so many seconds."""
    return math.ceil(rate * seconds - 1e-6)


def arrivals(schedule: Schedule, stream: int, streams: int) -> Iterator[tuple[int, float]]:
    """Yield for each request of a stream its part of the schedule, and its planned start in seconds since the load's start.

    The streams take the requests in turns, so that all streams together keep the distances.
    """
    from_s, before = 0.0, 0
    for part, (rate, seconds) in enumerate(schedule):
        count = asked(rate, seconds)
        for place in range((stream - before) % streams, count, streams):
            yield part, from_s + place / rate
        from_s, before = from_s + seconds, before + count
