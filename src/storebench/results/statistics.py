"""What repeats say, and how sure that is: medians, intervals, verdicts. All of it by SciPy.

SciPy is imported where it is used: this module is loaded by each task of each attempt, most of which need none of it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
MIN_VALUES = 3  # fewer say nothing of their spread
RESAMPLES = 9_999
SEED = 1  # the same values always give the same interval
MARGIN = 0.05
TEST = "Mann-Whitney U, two-sided; p adjusted by Benjamini-Hochberg"

FASTER, SLOWER, CANNOT_TELL = "faster", "slower", "cannot tell"

Key = TypeVar("Key", bound=Hashable)
Seconds = Sequence[float]


@dataclass(frozen=True)
class Interval:
    """The ends of a confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """Some repeats of one cell's operation, seconds. `interval` is the median's; None for fewer than MIN_VALUES."""

    n: int
    median_s: float
    min_s: float
    max_s: float
    first_quartile_s: float
    third_quartile_s: float
    interval: Interval | None

    @property
    def half_width(self) -> float:
        """Half the interval's width as a share of the median; infinite where there is no interval."""
        if self.interval is None or self.median_s <= 0:
            return math.inf
        return (self.interval.high - self.interval.low) / 2 / self.median_s


@dataclass(frozen=True)
class Verdict:
    """`after` against `before`. `ratio` is median after / median before: above 1 is slower."""

    label: str
    n_before: int
    n_after: int
    median_before_s: float
    median_after_s: float
    ratio: float
    interval: Interval | None
    p: float | None
    p_adjusted: float | None


def summarize(values: Seconds) -> Summary:
    """The figures of at least one value."""
    first, median, third = np.percentile(values, [25, 50, 75])
    return Summary(
        n=len(values),
        median_s=float(median),
        min_s=float(min(values)),
        max_s=float(max(values)),
        first_quartile_s=float(first),
        third_quartile_s=float(third),
        interval=_bootstrap(np.median, values) if len(values) >= MIN_VALUES else None,
    )


def verdicts(
    pairs: Mapping[Key, tuple[Seconds, Seconds]],
    *,
    margin: float = MARGIN,
) -> dict[Key, Verdict]:
    """A verdict for each pair of (before, after), all of which are non-empty.

    One is faster or slower only where the test says so after the correction for the number of pairs, and the whole
    interval of the ratio of the medians lies beyond the margin: 0.05 means that less than 5 % does not count.
    """
    from scipy import stats

    enough = {key: min(map(len, pair)) >= MIN_VALUES for key, pair in pairs.items()}
    p = {
        key: float(stats.mannwhitneyu(before, after, alternative="two-sided").pvalue)
        for key, (before, after) in pairs.items()
        if enough[key]
    }
    adjusted = (
        dict(zip(p, map(float, stats.false_discovery_control(list(p.values()))), strict=True)) if p else {}
    )
    found = {}
    for key, (before, after) in pairs.items():
        interval = _bootstrap(_ratio, before, after) if enough[key] else None
        label = CANNOT_TELL
        if interval and adjusted[key] <= 1 - CONFIDENCE:
            if interval.low > 1 + margin:
                label = SLOWER
            elif interval.high < 1 / (1 + margin):
                label = FASTER
        medians = float(np.median(before)), float(np.median(after))
        found[key] = Verdict(
            label,
            len(before),
            len(after),
            *medians,
            medians[1] / medians[0],
            interval,
            p.get(key),
            adjusted.get(key),
        )
    return found


def noise_floor(found: Sequence[Verdict]) -> float:
    """By how much arms that differ in nothing differ all the same: the 95th percentile of their ratios' distance from 1."""
    return float(np.percentile([max(v.ratio, 1 / v.ratio) - 1 for v in found], 95))


def cannot_tell_share(found: Sequence[Verdict]) -> float:
    """The share of at least one verdict that says neither faster nor slower."""
    return sum(verdict.label == CANNOT_TELL for verdict in found) / len(found)


def _ratio(
    before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], axis: int = -1
) -> npt.NDArray[np.float64]:
    ratio: npt.NDArray[np.float64] = np.median(after, axis=axis) / np.median(before, axis=axis)
    return ratio


def _bootstrap(statistic: object, *samples: Seconds) -> Interval:
    """The percentile interval. BCa's correction is undefined for the median of few values that are alike."""
    from scipy import stats

    found = stats.bootstrap(
        samples,
        statistic,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))
