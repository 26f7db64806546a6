"""Compute how two sides differ: the ratio of their figures, its interval, and a verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from storebench.results.statistics.intervals import CONFIDENCE, Interval, Values
from storebench.study.model import Better

MARGIN = 0.05
# The fewest units on each side for a verdict. With two modes, chance too often puts three or four repeats of one mode on one side.
MIN_UNITS = 5
# The share of units to trim at each end: with 10 units or more, a single outlier has little effect.
TRIMMED = 0.1
TEST = f"t-test of the logarithms, {TRIMMED:.0%} trimmed at each end (Yuen), two-sided; p adjusted by Benjamini-Hochberg"

BETTER, WORSE, SAME, CANNOT_TELL = "better", "worse", "the same", "cannot tell"
HIGHER, LOWER = "higher", "lower"  # labels without a preferred direction
# The labels of a figure above and below the other side's figure.
LABELS: Mapping[Better, tuple[str, str]] = {
    "lower": (WORSE, BETTER),
    "higher": (BETTER, WORSE),
    "neither": (HIGHER, LOWER),
}

Key = TypeVar("Key", bound=Hashable)
Figures = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two sides to compare: the units of each side, and the figures of each unit's repeats.

    Units are independent of each other: repeats, rounds or runs. `matched`: the n-th units of the sides belong
    together. `better` is the preferred direction.
    """

    before: Sequence[Values]
    after: Sequence[Values]
    matched: bool = False
    better: Better = "lower"


@dataclass(frozen=True)
class Noise:
    """The standard deviation of the logarithm of a unit's figure; for matched units, of the difference within a pair of units.

    `trimmed`: the deviation that counts if there are enough units to trim.
    """

    deviation: float
    trimmed: float
    matched: bool

    def error(self, n: int) -> float:
        """Return the standard error of the logarithm of the ratio of two sides with n units each."""
        deviation = self.deviation if kept_units(n) == n else self.trimmed
        return deviation * math.sqrt((1 if self.matched else 2) / n)

    def df(self, n: int) -> int:
        """Return the degrees of freedom with n units a side."""
        return (kept_units(n) - 1) * (1 if self.matched else 2)


@dataclass(frozen=True)
class Effect:
    """The logarithm of after / before, or the plain difference after - before; its standard error and its degrees of freedom."""

    size: float
    error: float
    df: float
    noise: Noise


@dataclass(frozen=True)
class Tested:
    """The 95 % interval of an effect, its p-value, and the p-value adjusted for the number of effects."""

    low: float
    high: float
    p: float
    p_adjusted: float

    @property
    def of_ratio(self) -> Interval:
        """Return the interval of the ratio, for an effect on logarithms."""
        low, high = np.exp([self.low, self.high])
        return Interval(float(low), float(high), CONFIDENCE)


@dataclass(frozen=True)
class Verdict:
    """The verdict on `after` relative to `before`. `ratio`: of the geometric means; None if a figure is not positive. `better`: the
    preferred direction.

    `reason`: why the verdict is inconclusive. `enough`: the number of units on each side that would probably decide.
    """

    label: str
    n_before: int
    n_after: int
    units_before: int
    units_after: int
    median_before: float
    median_after: float
    mean_before: float | None  # geometric mean of the trimmed units, from which the ratio is computed
    mean_after: float | None
    ratio: float | None
    interval: Interval | None
    noise: Noise | None
    p: float | None
    p_adjusted: float | None
    better: Better
    reason: str | None = None
    enough: int | None = None

    @property
    def is_worse(self) -> bool:
        """Return whether the verdict says that `after` is worse."""
        return self.label == WORSE

    @property
    def tells_apart(self) -> bool:
        """Return whether the verdict says that the sides differ."""
        return self.label not in (SAME, CANNOT_TELL)

    @property
    def worse_by(self) -> float:
        """Return the share by which `after` is worse: 0.1 is 10 %; negative if better. Only for a verdict with a ratio."""
        assert self.ratio is not None
        return (1 / self.ratio if self.better == "higher" else self.ratio) - 1

    @property
    def worse_by_at_most(self) -> float | None:
        """Return the upper end of the interval of `worse_by`; None without an interval."""
        if self.interval is None:
            return None
        return (1 / self.interval.low if self.better == "higher" else self.interval.high) - 1


def effect_of(pair: Pair) -> Effect | None:
    """Compute the effect of a pair; None for a single unit, which has no noise, and for figures without a ratio.

    The figure of a unit is the median of its repeats.
    """
    logarithms = _logarithms(pair)
    return None if logarithms is None else effect_between(*logarithms, matched=pair.matched)


def effect_between(before: Figures, after: Figures, *, matched: bool) -> Effect | None:
    """Compute the effect between the units' figures, which may be logarithms; None for a single unit."""
    if min(len(before), len(after)) < 2:
        return None
    if matched:
        changes = _Mean.of(after - before)
        noise = Noise(changes.deviation, math.sqrt(changes.variance * changes.n), matched=True)
        return Effect(changes.mean, math.sqrt(changes.variance), changes.df, noise)
    before_mean, after_mean = _Mean.of(before), _Mean.of(after)
    variance = before_mean.variance + after_mean.variance
    parts = before_mean.variance**2 / before_mean.df + after_mean.variance**2 / after_mean.df
    noise = Noise(
        math.sqrt((before_mean.deviation**2 + after_mean.deviation**2) / 2),
        math.sqrt((before_mean.variance * before_mean.n + after_mean.variance * after_mean.n) / 2),
        matched=False,
    )
    df = variance**2 / parts if parts else before_mean.df + after_mean.df
    return Effect(after_mean.mean - before_mean.mean, math.sqrt(variance), df, noise)


def verdicts_of(pairs: Mapping[Key, Pair], *, margin: float = MARGIN) -> dict[Key, Verdict]:
    """Return a verdict for each pair, without reasons (`storebench.results.statistics.power` adds them).

    A side is above or below the other side if the test is significant after the correction for the number of pairs, and the whole interval
    of the ratio is beyond the margin. The sides are the same if the whole interval is within the margin. `margin`: 0.05 is 5 %.
    """
    effects = {key: effect_of(pair) for key, pair in pairs.items()}
    figures = tested(
        {
            key: effect
            for key, effect in effects.items()
            if effect and min(len(pairs[key].before), len(pairs[key].after)) >= MIN_UNITS
        }
    )
    verdicts = {}
    for key, pair in pairs.items():
        label, interval, p_, adjusted_ = CANNOT_TELL, None, None, None
        if key in figures:
            found = figures[key]
            interval, p_, adjusted_ = found.of_ratio, found.p, found.p_adjusted
            label = _label(pair.better, interval, adjusted_, margin)
        effect, logarithms = effects[key], _logarithms(pair)
        means: Sequence[float | None] = (
            [_geometric_mean(side) for side in logarithms] if logarithms else (None, None)
        )
        before, after = ([s for unit in side for s in unit] for side in (pair.before, pair.after))
        verdicts[key] = Verdict(
            label=label,
            n_before=len(before),
            n_after=len(after),
            units_before=len(pair.before),
            units_after=len(pair.after),
            median_before=statistics.median(before),
            median_after=statistics.median(after),
            mean_before=means[0],
            mean_after=means[1],
            ratio=_ratio(effect, *means),
            interval=interval,
            noise=effect.noise if effect else None,
            p=p_,
            p_adjusted=adjusted_,
            better=pair.better,
        )
    return verdicts


def tested(effects: Mapping[Key, Effect]) -> dict[Key, Tested]:
    """Test all effects together, with the Benjamini-Hochberg correction for their number."""
    from scipy import stats

    x, error, df = (
        np.array([getattr(effect, name) for effect in effects.values()]) for name in ("size", "error", "df")
    )
    t = np.divide(x, error, out=np.where(x == 0, 0.0, np.inf), where=error > 0)
    p = 2 * stats.t.sf(abs(t), df)
    adjusted = stats.false_discovery_control(p) if effects else p
    half = stats.t.ppf((1 + CONFIDENCE) / 2, df) * error
    figures = zip(x - half, x + half, p, adjusted, strict=True)
    return {key: Tested(*map(float, figure)) for key, figure in zip(effects, figures, strict=True)}


def _ratio(effect: Effect | None, before: float | None, after: float | None) -> float | None:
    if effect:
        return math.exp(effect.size)
    return after / before if before and after else None


def noise_floor(verdicts: Sequence[Verdict]) -> float:
    """Return the noise floor of identical arms: the 95th percentile of the ratios' distance from 1. Needs at least one ratio."""
    ratios = [verdict.ratio for verdict in verdicts if verdict.ratio is not None]
    return float(np.percentile([max(ratio, 1 / ratio) - 1 for ratio in ratios], 95))


def alike_share(verdicts: Sequence[Verdict]) -> float:
    """Return the share of verdicts without a difference. Needs at least one verdict."""
    return sum(not verdict.tells_apart for verdict in verdicts) / len(verdicts)


def _label(better: Better, interval: Interval, p_adjusted: float, margin: float) -> str:
    if 1 / (1 + margin) <= interval.low and interval.high <= 1 + margin:
        return SAME
    if p_adjusted <= 1 - CONFIDENCE:
        above, below = LABELS[better]
        if interval.low > 1 + margin:
            return above
        if interval.high < 1 / (1 + margin):
            return below
    return CANNOT_TELL


def kept_units(n: int) -> int:
    """Return the number of n units that the trimming keeps."""
    return n - 2 * int(TRIMMED * n)


def medians_of(pair: Pair) -> tuple[Figures, Figures]:
    """Return the medians of the units of both sides."""
    before, after = (
        np.array([statistics.median(unit) for unit in side], dtype=np.float64)
        for side in (pair.before, pair.after)
    )
    return before, after


def _logarithms(pair: Pair) -> tuple[Figures, Figures] | None:
    """Return the logarithms of the units' medians; None if a median is not positive."""
    before, after = medians_of(pair)
    return (np.log(before), np.log(after)) if min(*before, *after) > 0 else None


def trimmed_mean(figures: Figures) -> float:
    """Return the mean of the units' figures that the trimming keeps."""
    return float(_kept(np.sort(figures)).mean())


def _geometric_mean(logarithms: Figures) -> float:
    return math.exp(trimmed_mean(logarithms))


def _kept(ordered: Figures) -> Figures:
    """Return the values that the trimming keeps."""
    cut = (len(ordered) - kept_units(len(ordered))) // 2
    return ordered[cut : len(ordered) - cut]


@dataclass(frozen=True)
class _Mean:
    """A trimmed mean of n values, its variance (from the winsorized values: Yuen 1974), and their untrimmed standard deviation."""

    n: int
    mean: float
    variance: float
    df: int
    deviation: float

    @classmethod
    def of(cls, values: Figures) -> _Mean:
        """Compute the trimmed mean of at least two values."""
        ordered = np.sort(values)
        inner = _kept(ordered)
        n, h = len(values), len(inner)
        winsorized = np.clip(ordered, inner[0], inner[-1])
        squares = float(np.sum((winsorized - winsorized.mean()) ** 2))
        return cls(n, float(inner.mean()), squares / (h * (h - 1)), h - 1, float(np.std(values, ddof=1)))
