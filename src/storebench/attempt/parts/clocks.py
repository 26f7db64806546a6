"""Compare the clocks of two pods by round trips, as NTP does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ping:
    """A round trip: the seconds of sending and receiving on the leader's clock, and of the answer on the follower's clock."""

    sent_s: float
    received_s: float
    at_s: float

    @property
    def round_trip_s(self) -> float:
        return self.received_s - self.sent_s


@dataclass(frozen=True)
class Offset:
    """The follower's clock minus the leader's clock in seconds, and the largest error of this difference."""

    seconds: float
    error_s: float


def estimate(pings: Iterable[Ping]) -> Offset:
    """Estimate the offset from the ping with the least round trip: the answer was given at some time between sending and receiving."""
    best = min(pings, key=lambda ping: ping.round_trip_s)
    return Offset(best.at_s - (best.sent_s + best.received_s) / 2, best.round_trip_s / 2)


def error_s(before: Offset, after: Offset) -> float:
    """Return the largest error of the offset `before` in seconds, with the drift until `after`."""
    return before.error_s + abs(after.seconds - before.seconds)
