"""How two sides differ: the ratio of their times, how sure that is, and a verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from storebench.results.statistics import CONFIDENCE, Interval, Seconds

MARGIN = 0.05
MIN_UNITS = 3  # on each side, for a verdict
RESOLUTION_S = 1e-6  # times are rounded up to this: a time of zero has no logarithm
# The share of the units that is cut off at each end: with 10 units or more, one outlier costs little.
TRIMMED = 0.1
TEST = f"t-test of the logarithms, {TRIMMED:.0%} trimmed at each end (Yuen), two-sided; p adjusted by Benjamini-Hochberg"

FASTER, SLOWER, SAME, CANNOT_TELL = "faster", "slower", "the same", "cannot tell"

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Pair:
    """What is compared: the units of both sides, and of each unit the seconds of its repeats.

    A unit is what is independent of the others: a repeat, a round, a run. `matched`: the n-th units of the sides belong
    together, and are as many.
    """

    before: Sequence[Seconds]
    after: Sequence[Seconds]
    matched: bool = False


@dataclass(frozen=True)
class Noise:
    """The standard deviation of the logarithm of one unit; where units are matched, of the difference within a pair of them.

    `trimmed` is what is left of it where there are enough units to be trimmed.
    """

    deviation: float
    trimmed: float
    matched: bool

    def error(self, n: int) -> float:
        """The standard error of the logarithm of the ratio of two sides with n units each."""
        deviation = self.deviation if left(n) == n else self.trimmed
        return deviation * math.sqrt((1 if self.matched else 2) / n)

    def df(self, n: int) -> int:
        """Its degrees of freedom."""
        return (left(n) - 1) * (1 if self.matched else 2)


@dataclass(frozen=True)
class Effect:
    """The logarithm of after / before, its standard error and its degrees of freedom."""

    log_ratio: float
    error: float
    df: float
    noise: Noise


@dataclass(frozen=True)
class Verdict:
    """`after` against `before`. `ratio` is of their geometric means: above 1 is slower.

    `reason` is why it cannot be told, `enough` how many units on each side probably would do.
    """

    label: str
    n_before: int
    n_after: int
    units_before: int
    units_after: int
    median_before_s: float
    median_after_s: float
    ratio: float
    interval: Interval | None
    noise: Noise | None
    p: float | None
    p_adjusted: float | None
    reason: str | None = None
    enough: int | None = None


def effect_of(pair: Pair) -> Effect | None:
    """How the sides of a pair differ; None for one unit, which has no noise. A unit counts as the median of its repeats."""
    if min(len(pair.before), len(pair.after)) < 2:
        return None
    before, after = _logarithms(pair)
    if pair.matched:
        changes = _Mean.of(after - before)
        noise = Noise(changes.deviation, math.sqrt(changes.variance * changes.n), matched=True)
        return Effect(changes.mean, math.sqrt(changes.variance), changes.df, noise)
    one, other = _Mean.of(before), _Mean.of(after)
    variance = one.variance + other.variance
    parts = one.variance**2 / one.df + other.variance**2 / other.df
    noise = Noise(
        math.sqrt((one.deviation**2 + other.deviation**2) / 2),
        math.sqrt((one.variance * one.n + other.variance * other.n) / 2),
        matched=False,
    )
    df = variance**2 / parts if parts else one.df + other.df
    return Effect(other.mean - one.mean, math.sqrt(variance), df, noise)


def verdicts(pairs: Mapping[Key, Pair], *, margin: float = MARGIN) -> dict[Key, Verdict]:
    """A verdict for each pair, without reasons (`storebench.results.power` finds them).

    One is faster or slower only where the test says so after the correction for the number of pairs, and the whole
    interval of the ratio lies beyond the margin: 0.05 means that less than 5 % does not count. It is the same where the
    whole interval lies within the margin.
    """
    from scipy import stats

    effects = {key: effect_of(pair) for key, pair in pairs.items()}
    known = {
        key: effect
        for key, effect in effects.items()
        if effect and min(len(pairs[key].before), len(pairs[key].after)) >= MIN_UNITS
    }
    x, error, df = (
        np.array([getattr(effect, name) for effect in known.values()])
        for name in ("log_ratio", "error", "df")
    )
    t = np.divide(x, error, out=np.where(x == 0, 0.0, np.inf), where=error > 0)
    p = 2 * stats.t.sf(abs(t), df)
    adjusted = stats.false_discovery_control(p) if known else p
    half = stats.t.ppf((1 + CONFIDENCE) / 2, df) * error
    figures = dict(zip(known, zip(np.exp(x - half), np.exp(x + half), p, adjusted, strict=True), strict=True))
    found = {}
    for key, pair in pairs.items():
        label, interval, p_, adjusted_ = CANNOT_TELL, None, None, None
        if key in figures:
            low, high, p_, adjusted_ = map(float, figures[key])
            interval = Interval(low, high, CONFIDENCE)
            label = _label(interval, adjusted_, margin)
        effect = effects[key]
        before, after = ([s for unit in side for s in unit] for side in (pair.before, pair.after))
        found[key] = Verdict(
            label=label,
            n_before=len(before),
            n_after=len(after),
            units_before=len(pair.before),
            units_after=len(pair.after),
            median_before_s=statistics.median(before),
            median_after_s=statistics.median(after),
            ratio=math.exp(effect.log_ratio if effect else _log_ratio(pair)),
            interval=interval,
            noise=effect.noise if effect else None,
            p=p_,
            p_adjusted=adjusted_,
        )
    return found


def noise_floor(found: Sequence[Verdict]) -> float:
    """By how much arms that differ in nothing differ all the same: the 95th percentile of their ratios' distance from 1."""
    return float(np.percentile([max(v.ratio, 1 / v.ratio) - 1 for v in found], 95))


def alike_share(found: Sequence[Verdict]) -> float:
    """The share of at least one verdict that says neither faster nor slower."""
    return sum(verdict.label in (SAME, CANNOT_TELL) for verdict in found) / len(found)


def _label(interval: Interval, p_adjusted: float, margin: float) -> str:
    if 1 / (1 + margin) <= interval.low and interval.high <= 1 + margin:
        return SAME
    if p_adjusted <= 1 - CONFIDENCE:
        if interval.low > 1 + margin:
            return SLOWER
        if interval.high < 1 / (1 + margin):
            return FASTER
    return CANNOT_TELL


def left(n: int) -> int:
    """How many of n units the trimming leaves."""
    return n - 2 * int(TRIMMED * n)


def _logarithms(pair: Pair) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    before, after = (
        np.log([max(statistics.median(unit), RESOLUTION_S) for unit in side])
        for side in (pair.before, pair.after)
    )
    return before, after


def _log_ratio(pair: Pair) -> float:
    """Of sides with one unit."""
    before, after = map(np.mean, _logarithms(pair))
    return float(after - before)


@dataclass(frozen=True)
class _Mean:
    """A trimmed mean of n values, its variance (from the winsorized values: Yuen 1974), and their untrimmed standard deviation."""

    n: int
    mean: float
    variance: float
    df: int
    deviation: float

    @classmethod
    def of(cls, values: npt.NDArray[np.float64]) -> _Mean:
        """Of at least two values."""
        n, h = len(values), left(len(values))
        ordered, cut = np.sort(values), (n - h) // 2
        inner = ordered[cut : n - cut]
        winsorized = np.clip(ordered, inner[0], inner[-1])
        squares = float(np.sum((winsorized - winsorized.mean()) ** 2))
        return cls(n, float(inner.mean()), squares / (h * (h - 1)), h - 1, float(np.std(values, ddof=1)))
