"""Search the highest rate at which a limit holds: 99 % of the requests are answered in time, and few fail.

The rate rises by a factor until the limit breaks. Then the bounds are bisected until they differ by the tolerance. The upper bound is then
measured once more; if the limit holds there, a pause had broken it, and the rate rises again. Last, the lower bound is measured twice more; if
the limit breaks there, the search goes on below. The search is a state machine without a clock or a server: `next`
returns the next step, and `tell` takes its counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from storebench.errors import SpecError
from storebench.stores.point_operations.arrivals import request_count

TARGET = 0.99  # share of requests that must be answered in time: the 99th percentile is within the limit
CONFIDENCE = 0.95  # of a judgement
LOOKS = 3  # the most steps of one judgement: a further one doubles or triples the requests
# Wilson's interval at each look. The error probability is divided among the looks (Bonferroni).
Z = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2 / LOOKS)
# The fewest requests of a step: if all are in time, the interval is above TARGET.
LEAST_REQUESTS = math.ceil(Z**2 * TARGET / (1 - TARGET))
# A rate above the capacity by the share t delays requests by t seconds each second, so after slo_s / t seconds requests are late. The margin
# makes clearly more than 1 % of the step's requests late.
MARGIN = 1.1
CONFIRMATIONS = 2
MOST_STEPS, MOST_S = 100, 7_200  # of a search


@dataclass(frozen=True)
class Limits:
    """The parameters of a search. Raises SpecError if they contradict each other."""

    first_rate: float  # requests per second of the first step
    factor: float  # by which the rate rises
    tolerance: float  # ratio of the bounds, less 1
    slo_s: float  # the time in which a request must be answered
    max_error_share: float
    longest_step_s: float
    max_rate: float

    def __post_init__(self) -> None:
        if self.factor <= 1:
            raise SpecError(f"A search needs a rate_factor above 1, not {self.factor:g}")
        if (needed_s := MARGIN * self.slo_s / self.tolerance) > self.longest_step_s:
            raise SpecError(
                f"A rate that exceeds the capacity by {self.tolerance:.2%} breaks the limit of {1000 * self.slo_s:g} ms after {needed_s:.3g} s, and a"
                f" step lasts {self.longest_step_s:g} s at most: ask for a longer longest_step_s, or for a larger capacity_tolerance"
            )
        if (seconds := self.seconds(self.first_rate)) > self.longest_step_s:
            raise SpecError(
                f"At {self.first_rate:g} a second, the {LEAST_REQUESTS} requests that a step needs last {seconds:.3g} s, and a step lasts"
                f" {self.longest_step_s:g} s at most: ask for a larger first_rate, or for a longer longest_step_s"
            )

    def seconds(self, rate: float) -> float:
        """Return the seconds of a step at `rate` requests per second."""
        return max(LEAST_REQUESTS / rate, MARGIN * self.slo_s / self.tolerance)


@dataclass(frozen=True)
class Probe:
    """A step to measure."""

    rate: float  # requests per second
    seconds: float

    @property
    def request_count(self) -> int:
        """Return the number of planned requests."""
        return request_count(self.rate, self.seconds)


class Search:
    """A search for the capacity. It ends with a `capacity`, or with a `reason`."""

    def __init__(self, limits: Limits) -> None:
        self.capacity: float | None = None  # the confirmed rate in requests per second
        self.reason: str | None = None  # why there is no capacity
        self.low: float | None = None  # the highest rate that held, below `high`
        self.high: float | None = None  # the lowest rate that broke the limit
        self.lost: float | None = None  # the highest rate that held, and did not hold when it was confirmed
        self._limits = limits
        self._probe: Probe | None = None
        self._steps, self._seconds = 0, 0.0
        self._looks = self._count = self._in_time = self._failed = 0  # of the rate's judgement so far
        self._checked: float | None = None  # the rate that broke the limit twice
        self._confirmed: int | None = None  # number of confirmations; None before the bounds are close
        self._fall = limits.factor  # by which the rate falls while no lower bound is known
        self._try(limits.first_rate)

    @property
    def next(self) -> Probe | None:
        """Return the step to measure now; None at the end of the search."""
        return self._probe

    @property
    def changed(self) -> bool:
        """Return whether the capacity fell during the search, by more than the tolerance: a rate that had held is above the result."""
        if self.capacity is None or self.lost is None:
            return False
        return self.lost > self.capacity * (1 + self._limits.tolerance) * (1 + 1e-9)

    def tell(self, in_time: int, failed: int) -> None:
        """Take the counts of the step `next`: requests answered in time, and failed requests."""
        assert self._probe is not None
        rate = self._probe.rate
        self._steps, self._seconds = self._steps + 1, self._seconds + self._probe.seconds
        self._looks += 1
        self._count += self._probe.request_count
        self._in_time, self._failed = self._in_time + in_time, self._failed + failed
        if (held := self._holds()) is not None:
            self._judged(rate, held=held)
        if self._probe and (self._steps >= MOST_STEPS or self._seconds + self._probe.seconds > MOST_S):
            self._end(
                f"The search has no end after {self._steps} steps and {self._seconds:,.0f} s: the capacity does not stay the same"
            )

    def _holds(self) -> bool | None:
        """Return whether the limit holds at the rate; None if the requests so far are too few to know."""
        low, high = wilson(self._in_time, self._count)
        if high < TARGET:
            return False
        if low < TARGET and self._looks < LOOKS:
            return None
        return (
            self._in_time >= TARGET * self._count
            and self._failed <= self._limits.max_error_share * self._count
        )

    def _judged(self, rate: float, *, held: bool) -> None:
        """Choose the next step after a judgement of `rate`."""
        if self._confirmed is not None:
            self._confirm(rate, held=held)
        elif held:
            self.low, self.high = rate, None if rate == self.high else self.high
            if self.high is None and rate >= self._limits.max_rate:
                self._end(
                    f"No rate up to {self._limits.max_rate:,.0f} a second broke the limit of {1000 * self._limits.slo_s:g} ms: ask for a lower slo_ms"
                )
                return
            self._between()
        else:
            self._checked = rate if rate == self.high else None
            self.high = rate
            self._between()

    def _confirm(self, rate: float, *, held: bool) -> None:
        assert self._confirmed is not None
        if held:
            self._confirmed += 1
            if self._confirmed == CONFIRMATIONS:
                self.capacity, self._probe = rate, None
            else:
                self._try(rate)
            return
        # Lower rates that have held may not hold any more, so they are measured again, closely below first.
        self.lost = max(rate, self.lost or 0.0)
        self.high, self.low, self._confirmed = rate, None, None
        self._fall = 1 + self._limits.tolerance
        self._between()

    def _between(self) -> None:
        """Try the next rate by the bounds."""
        if self.high is None:
            assert self.low is not None
            self._try(min(self.low * self._limits.factor, self._limits.max_rate))
        elif self.low is None:
            self._try(self.high / self._fall)
            self._fall **= 2
        elif self.high <= self.low * (1 + self._limits.tolerance) * (1 + 1e-9):
            if self._checked == self.high:
                self._confirmed = 0
            self._try(self.low if self._checked == self.high else self.high)
        else:
            self._try(math.sqrt(self.low * self.high))

    def _try(self, rate: float) -> None:
        self._looks = self._count = self._in_time = self._failed = 0
        self._probe = Probe(rate, seconds := self._limits.seconds(rate))
        if seconds > self._limits.longest_step_s:
            self._end(
                f"{self.high:.5g} a second breaks the limit of {1000 * self._limits.slo_s:g} ms, and at {rate:.5g} a second a step needs {seconds:.3g} s,"
                f" of {self._limits.longest_step_s:g} s at most: ask for a longer longest_step_s, or for a higher slo_ms"
            )

    def _end(self, reason: str) -> None:
        self.reason, self._probe = reason, None


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return Wilson's interval of the share `count` / `of`, at the confidence of one look."""
    share, z2 = count / of, Z**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = Z / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of**2))
    return middle - half, middle + half
