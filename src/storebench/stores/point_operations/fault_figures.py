"""Compute what a fault does to a load, from the log of its requests. docs/method.md defines each figure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from storebench.stores.point_operations.distribution import Exact
from storebench.stores.point_operations.requests import DONE, PERCENTILES, Requests

if TYPE_CHECKING:
    import numpy as np

    from storebench.attempt.fault import Happened
    from storebench.attempt.run import Attempt

    Numbers = np.ndarray[Any, Any]

STRETCH_S = 5.0  # seconds of a stretch whose rate and latency are compared with those before the fault
STEP_S = 0.1  # seconds between the begins of two such stretches
RATE_SHARE, P99_FACTOR = 0.9, 1.1  # of a recovered load, relative to the load before the fault
SHORTEST_S = 0.1  # seconds of the shortest stretch without a success that counts in the sum
STANDSTILL_S = (1 - RATE_SHARE) * STRETCH_S  # seconds without a success that no recovered load has
SLACK_S = 1e-9  # sums of STEP_S are not exact


@dataclass(frozen=True)
class UnderFault:
    """A load under a fault. All seconds count from the start of the first user. `from_s`: all users are there."""

    requests: Requests
    fault: Happened
    from_s: float

    @property
    def to_s(self) -> float:
        """Return the second of the load's end."""
        return self.requests.measured_to_s

    @cached_property
    def _ended_s(self) -> Numbers:
        """Return the second of each request's end. A request that began late still counts from its planned start."""
        ended_s: Numbers = self.requests.began_s + self.requests.latency_s
        return ended_s

    @cached_property
    def _successes_s(self) -> Numbers:
        """Return the ends of the successful requests from `from_s` to the load's end, ascending."""
        import numpy as np

        ended_s = self._ended_s[self.requests.outcome == DONE]
        found: Numbers = np.sort(ended_s[(ended_s >= self.from_s) & (ended_s < self.to_s)])
        return found

    @cached_property
    def _by_end(self) -> tuple[Numbers, Numbers]:
        """Return the ends of all requests, ascending, and their latencies."""
        import numpy as np

        order = np.argsort(self._ended_s, kind="stable")
        return self._ended_s[order], self.requests.latency_s[order]

    def successes(self, from_s: float, to_s: float) -> int:
        """Count the successful requests that ended between two seconds."""
        first, last = self._successes_s.searchsorted([from_s, to_s])
        return int(last - first)

    def problem(self) -> str | None:
        """Return a sentence about a load without any success after the server answered again; None if there is a success."""
        if self.successes(self.fault.healed_s, self.to_s):
            return None
        return (
            f"No request succeeded after {self.fault.server} answered again, {self.fault.healed_s - self.fault.began_s:.1f} s after the fault"
            f" began; the load ended {self.to_s - self.fault.began_s:.1f} s after the fault began. Ask for a longer duration_s"
        )

    def p99s(self) -> dict[str, float]:
        """Return the 99th percentile of the latency, with failed requests: of the requests that ended before the fault, that began after the
        server answered again, and of all others. A time without a request has no entry.
        """
        began_s = self.requests.began_s
        before = self._ended_s < self.fault.began_s
        after = began_s >= self.fault.healed_s
        parts = {"before": before, "during": ~before & ~after, "after": after}
        running = (began_s >= self.from_s) & (began_s < self.to_s)
        return {
            name: p99
            for name, part in parts.items()
            if (p99 := _p99(self.requests.latency_s[part & running])) is not None
        }

    def unavailable_s(self) -> tuple[float, float]:
        """Return the longest stretch without a success that ends after the fault began, and the sum of all long stretches.

        A stretch is long if it lasts at least SHORTEST_S, and longer than each stretch before the fault.
        """
        edges, lengths = self._stretches
        after = edges[1:] > self.fault.began_s
        return float(lengths[after].max(initial=0.0)), float(lengths[after & self._long].sum())

    def recover_s(self) -> float | None:
        """Return the seconds from the fault to the first stretch as before, from which on all stretches that begin before the server answers
        again are as before; None without such a stretch.
        """
        before_s = self.fault.began_s - self.from_s
        if before_s <= 0 or not (done := self.successes(self.from_s, self.fault.began_s)):
            return None
        least = RATE_SHARE * done / before_s * STRETCH_S
        most_s = P99_FACTOR * self._highest_p99_before()
        found = None
        for place in range(int((self.to_s - self.fault.began_s - STRETCH_S) / STEP_S + SLACK_S) + 1):
            from_s = self.fault.began_s + place * STEP_S
            if found is not None and from_s >= self.fault.healed_s:
                break
            if not self._is_as_before(from_s, least, most_s):
                found = None
            elif found is None:
                found = place * STEP_S
        return found

    def _is_as_before(self, from_s: float, least: float, most_s: float) -> bool:
        """Return whether a stretch is as before: at least `least` successes, a 99th percentile of at most `most_s`, and no standstill."""
        to_s = from_s + STRETCH_S
        if to_s > self.to_s + SLACK_S or self.successes(from_s, to_s) < least:
            return False
        edges, lengths = self._stretches
        stands = self._long & (lengths >= STANDSTILL_S) & (edges[:-1] < to_s) & (edges[1:] > from_s)
        p99 = self._p99_between(from_s, to_s)
        return not stands.any() and p99 is not None and p99 <= most_s

    @cached_property
    def _stretches(self) -> tuple[Numbers, Numbers]:
        """Return the edges of all stretches without a success, ascending, and the lengths of the stretches."""
        import numpy as np

        edges = np.concatenate([[self.from_s], self._successes_s, [self.to_s]])
        return edges, np.diff(edges)

    @cached_property
    def _long(self) -> Numbers:
        """Return a mask of the stretches without a success that are long."""
        edges, lengths = self._stretches
        usual_s = float(lengths[edges[1:] <= self.fault.began_s].max(initial=0.0))
        mask: Numbers = (lengths >= SHORTEST_S) & (lengths > usual_s)
        return mask

    def _highest_p99_before(self) -> float:
        """Return the highest 99th percentile of a stretch before the fault. A shorter time before the fault is one stretch."""
        room_s = self.fault.began_s - self.from_s - STRETCH_S
        begins = [self.from_s + place * STEP_S for place in range(int(room_s / STEP_S + SLACK_S) + 1)]
        found = (
            self._p99_between(from_s, min(from_s + STRETCH_S, self.fault.began_s))
            for from_s in begins or [self.from_s]
        )
        return max((p99 for p99 in found if p99 is not None), default=0.0)

    def _p99_between(self, from_s: float, to_s: float) -> float | None:
        ended_s, latency_s = self._by_end
        first, last = ended_s.searchsorted([from_s, to_s])
        return _p99(latency_s[first:last])


def report(attempt: Attempt, found: UnderFault) -> str:
    """Record the figures of a load under a fault. Return a sentence about the fault and the recovery."""
    fault = found.fault
    fault.report(attempt)
    longest_s, sum_s = found.unavailable_s()
    attempt.metric("unavailable_s", longest_s)
    attempt.metric("unavailable_sum_s", sum_s)
    for name, p99 in found.p99s().items():
        attempt.metric(f"p99_{name}_s", p99)
    recover_s = found.recover_s()
    recovered = (
        f"had not recovered when the load ended, {found.to_s - fault.began_s:.1f} s after the fault began"
    )
    if recover_s is not None:
        attempt.metric("recover_s", recover_s)
        recovered = f"had recovered {recover_s:.1f} s after the fault began"
    return f"{fault.said}, and the load {recovered}"


def _p99(latencies_s: Numbers) -> float | None:
    import numpy as np

    return Exact(np.sort(latencies_s)).percentile(PERCENTILES["p99_s"]) if len(latencies_s) else None
