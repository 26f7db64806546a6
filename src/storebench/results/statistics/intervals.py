"""Summarize the repeats of a cell's operation: medians and their confidence intervals.

SciPy is imported in the functions that use it: every task of every attempt loads this module, and most tasks do not need SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

CONFIDENCE = 0.95
MIN_VALUES = 6  # with fewer values, even the whole range contains the median less often than CONFIDENCE

Values = Sequence[float]


@dataclass(frozen=True)
class Interval:
    """A confidence interval, and its coverage, at least CONFIDENCE: how often such an interval contains the true value."""

    low: float
    high: float
    coverage: float


@dataclass(frozen=True)
class Summary:
    """A summary of repeats, in the metric's unit. `interval`: of the median; None for fewer than MIN_VALUES."""

    n: int
    median: float
    min: float
    max: float
    first_quartile: float
    third_quartile: float
    interval: Interval | None

    @property
    def half_width(self) -> float:
        """Return half the interval's width as a share of the median; infinite without an interval."""
        if self.interval is None or self.median <= 0:
            return math.inf
        return (self.interval.high - self.interval.low) / 2 / self.median


def summarize(values: Values) -> Summary:
    """Summarize at least one value."""
    ordered = sorted(map(float, values))
    first, median, third = (_quantile(ordered, share) for share in (0.25, 0.5, 0.75))
    return Summary(
        n=len(ordered),
        median=median,
        min=ordered[0],
        max=ordered[-1],
        first_quartile=first,
        third_quartile=third,
        interval=_order_interval(ordered),
    )


def _quantile(ordered: Values, share: float) -> float:
    """Interpolate a quantile linearly, as NumPy does. NumPy's arrays would cost more than the computation."""
    place = share * (len(ordered) - 1)
    below, above, part = ordered[math.floor(place)], ordered[math.ceil(place)], place % 1
    step = above - below
    return above - step * (1 - part) if part >= 0.5 else below + step * part


def _order_interval(ordered: Values) -> Interval | None:
    """Return the distribution-free interval of the median, from the k-th smallest to the k-th largest value."""
    if len(ordered) < MIN_VALUES:
        return None
    k, coverage = _rank(len(ordered))
    return Interval(ordered[k - 1], ordered[-k], coverage)


@lru_cache(maxsize=1024)
def _rank(n: int) -> tuple[int, float]:
    """Return the largest k whose interval of n values has enough coverage of the median, and that coverage.

    The interval misses the median if fewer than k values are on one side of it. Each value is on either side with equal chance.
    """
    from scipy import stats

    k = int(stats.binom.ppf((1 - CONFIDENCE) / 2, n, 0.5))
    return k, 1 - 2 * float(stats.binom.cdf(k - 1, n, 0.5))
