"""Compute the planned starts of the requests of a load with fixed rates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

# The consecutive parts of a load: requests per second, and seconds.
Schedule = Sequence[tuple[float, float]]


def request_count(rate: float, seconds: float) -> int:
    """Return the number of requests planned in `seconds` at `rate` requests per second."""
    return math.ceil(rate * seconds - 1e-6)


def arrivals(schedule: Schedule, stream: int, streams: int) -> Iterator[tuple[int, float]]:
    """Yield for each request of a stream its part of the schedule, and its planned start in seconds since the load's start.

    The streams alternate, so that the requests of all streams together have equal distances.
    """
    from_s, before = 0.0, 0
    for part, (rate, seconds) in enumerate(schedule):
        count = request_count(rate, seconds)
        for place in range((stream - before) % streams, count, streams):
            yield part, from_s + place / rate
        from_s, before = from_s + seconds, before + count
