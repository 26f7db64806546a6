"""Compute the planned starts of the requests of a load with fixed rates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

# The consecutive parts of a load: requests per second, and seconds.
Schedule = Sequence[tuple[float, float]]


def request_count(rate: float, seconds: float) -> int:
    """Return the number of requests planned in `seconds` at `rate` requests per second."""
    return math.ceil(rate * seconds - 1e-6)


class Arrivals:
    """The planned starts of one stream's requests. The streams alternate, so that the requests of all streams together have equal distances.

    All streams get the same parts in the same order."""

    def __init__(self, stream: int, streams: int) -> None:
        self.parts = 0  # number of planned parts
        self._stream, self._streams = stream, streams
        self._before = 0  # planned requests of all streams so far
        self._planned: list[Iterator[tuple[int, float]]] = []

    def add(self, from_s: float, rate: float, seconds: float) -> None:
        """Plan a part: `rate` requests per second of all streams, from the second `from_s` since the load's start."""
        count = request_count(rate, seconds)
        places = range((self._stream - self._before) % self._streams, count, self._streams)
        part = self.parts
        self._planned.append((part, from_s + place / rate) for place in places)
        self.parts, self._before = part + 1, self._before + count

    def next(self) -> tuple[int, float] | None:
        """Return the part of the next request, and its planned start in seconds since the load's start; None if none is planned."""
        while self._planned:
            if (following := next(self._planned[0], None)) is not None:
                return following
            del self._planned[0]
        return None

    def drop(self) -> None:
        """Forget the requests that were not taken yet."""
        self._planned.clear()


def arrivals(schedule: Schedule, stream: int, streams: int) -> Iterator[tuple[int, float]]:
    """Yield for each request of a stream its part of the schedule, and its planned start in seconds since the load's start."""
    planned, from_s = Arrivals(stream, streams), 0.0
    for rate, seconds in schedule:
        planned.add(from_s, rate, seconds)
        from_s += seconds
    while (following := planned.next()) is not None:
        yield following
