"""Rank the figures that differ together with a verdict. A figure that goes along with a difference need not cause it.

Each figure is tested as the metric is: the same units, the same t-test. A figure that is 0 in some unit has no logarithm and no ratio: the
test then compares square roots, which exist at 0 and make the noise of small and large counts alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from storebench.results.statistics.intervals import CONFIDENCE, Interval
from storebench.results.statistics.verdicts import (
    MIN_UNITS,
    Effect,
    Figures,
    Key,
    Pair,
    Tested,
    Verdict,
    effect_between,
    medians_of,
    tested,
    trimmed_mean,
)

LEAST_SHARE = 0.05  # a figure that may explain less of the metric's difference is not listed
MOST_SEEN = 5  # figures with too few units for a test that are listed
ALIKE = 1e-3  # a figure whose ratio to the metric, or product with it, varies less repeats the metric


@dataclass(frozen=True)
class Candidate:
    """A figure of the units of both sides. `adds_up`: its seconds can be a part of the metric's seconds."""

    pair: Pair
    adds_up: bool = False


@dataclass(frozen=True)
class Association:
    """A figure that differs together with the metric. `ratio`: of the geometric means, B / A; None for a figure that is 0 in a unit.

    `median_before`, `median_after`: of the units. `share`: the share of the metric's difference that the difference of these seconds covers,
    at most 1; None for a figure that does not add up. `seen_in`: number of units of both sides that are too few for a test; such a figure
    has neither ratio, interval nor p.
    """

    ratio: float | None
    interval: Interval | None
    median_before: float
    median_after: float
    share: float | None
    p_adjusted: float | None
    seen_in: int | None = None


@dataclass(frozen=True)
class _Figure:
    """A candidate's effect on the scale of logarithms, or else of square roots. `means`: of both sides on this scale."""

    candidate: Candidate
    effect: Effect
    is_log: bool
    means: tuple[float, float]

    @classmethod
    def of(cls, candidate: Candidate) -> _Figure | None:
        """Compute the effect of a candidate; None for a single unit."""
        medians = medians_of(candidate.pair)
        is_log = bool(min(map(np.min, medians)) > 0)
        before, after = map(np.log if is_log else np.sqrt, medians)
        effect = effect_between(before, after, matched=candidate.pair.matched)
        return cls(candidate, effect, is_log, (trimmed_mean(before), trimmed_mean(after))) if effect else None

    def distance(self, size: float) -> float:
        """Return the logarithm of the larger figure relative to the smaller for an effect of this size."""
        if self.is_log:
            return abs(size)
        smaller = min(self.means)
        return 2 * math.log1p(abs(size) / smaller) if smaller > 0 else math.inf

    def growth(self, size: float) -> float:
        """Return the difference between the sides in the figure's unit for an effect of this size."""
        before, after = self.means[0], self.means[0] + size
        return math.exp(before) * math.expm1(size) if self.is_log else after**2 - before**2


def varying(candidates: Mapping[Key, Candidate], metric: Pair) -> dict[Key, Candidate]:
    """Return the candidates with enough units on both sides that are not below 0, vary between units, and do not repeat the metric."""
    return {
        key: candidate
        for key, candidate in candidates.items()
        if has_enough(candidate) and _varies(candidate.pair) and not _repeats(candidate.pair, metric)
    }


def has_enough(candidate: Candidate) -> bool:
    """Return whether a candidate has as many units on each side as a verdict needs."""
    return min(len(candidate.pair.before), len(candidate.pair.after)) >= MIN_UNITS


def associated(verdict: Verdict, candidates: Mapping[Key, Candidate]) -> dict[Key, Association]:
    """Return the candidates that differ together with a verdict that tells its sides apart, ranked by how much of it they may explain.

    The rank of a figure is the smallest share that the figure's interval allows. The share of seconds that add up is their difference,
    divided by the metric's difference. The share of any other figure is the logarithm of its ratio, divided by the logarithm of the metric's
    ratio: as if the metric grew in proportion. Shares above 1 are equal: then the larger ratio comes first, and of figures that are 0 on a
    side, the figure with the smaller p. `candidates`: see `varying`.
    """
    figures = {key: figure for key, candidate in candidates.items() if (figure := _Figure.of(candidate))}
    ranked = []
    for key, test in tested({key: figure.effect for key, figure in figures.items()}).items():
        if test.p_adjusted > 1 - CONFIDENCE:
            continue
        figure = figures[key]
        distance, share = _least(figure, test, verdict)
        if share >= LEAST_SHARE:
            rank = (min(share, 1.0), distance, -test.p)
            ranked.append((rank, key, _association(figure, test, verdict)))
    ranked.sort(key=lambda line: line[0], reverse=True)
    return {key: association for _, key, association in ranked}


def seen(verdict: Verdict, candidates: Mapping[Key, Candidate]) -> dict[Key, Association]:
    """Return the candidates with too few units for a test whose medians cover LEAST_SHARE of the difference, ranked: at most MOST_SEEN.

    `candidates`: seconds that add up.
    """
    ranked = []
    for key, candidate in candidates.items():
        if has_enough(candidate):
            continue
        sides = medians_of(candidate.pair)
        before, after = (float(np.median(side)) for side in sides)
        share = _share(after - before, verdict)
        if share >= LEAST_SHARE:
            low, high = sorted((before, after))
            found = Association(None, None, before, after, min(share, 1.0), None, sum(map(len, sides)))
            ranked.append(((min(share, 1.0), high / low if low else math.inf, high), key, found))
    ranked.sort(key=lambda line: line[0], reverse=True)
    return {key: association for _, key, association in ranked[:MOST_SEEN]}


def _least(figure: _Figure, test: Tested, verdict: Verdict) -> tuple[float, float]:
    """Return the smallest distance between the sides that the interval allows, as a logarithm, and the smallest share; below 0 for seconds
    that go the other way.
    """
    near = test.low if test.low > 0 else test.high  # the interval excludes 0
    distance = figure.distance(near)
    if figure.candidate.adds_up:
        return distance, _covered(figure, near, verdict)
    assert verdict.ratio is not None
    return distance, distance / abs(math.log(verdict.ratio))


def _covered(figure: _Figure, size: float, verdict: Verdict) -> float:
    """Return the share of the metric's difference that an effect of this figure covers; below 0 for seconds that go the other way."""
    return _share(figure.growth(size), verdict)


def _share(seconds: float, verdict: Verdict) -> float:
    """Return the share of the metric's difference that a difference of seconds covers; below 0 for seconds that go the other way."""
    assert verdict.mean_before is not None and verdict.mean_after is not None
    return seconds / (verdict.mean_after - verdict.mean_before)


def _association(figure: _Figure, test: Tested, verdict: Verdict) -> Association:
    before, after = medians_of(figure.candidate.pair)
    size = figure.effect.size
    return Association(
        ratio=math.exp(size) if figure.is_log else None,
        interval=test.of_ratio if figure.is_log else None,
        median_before=float(np.median(before)),
        median_after=float(np.median(after)),
        share=min(_covered(figure, size, verdict), 1.0) if figure.candidate.adds_up else None,
        p_adjusted=test.p_adjusted,
    )


def _varies(pair: Pair) -> bool:
    figures = _joined(pair)
    return bool(np.min(figures) >= 0 and np.ptp(figures) > 0)


def _repeats(pair: Pair, metric: Pair) -> bool:
    """Return whether the figures follow from the metric's figures: in all units their ratio is the same, or their product."""
    figures, others = _joined(pair), _joined(metric)
    if len(figures) != len(others) or min(*figures, *others) <= 0:
        return False
    logarithms = np.log(figures), np.log(others)
    return any(
        float(np.ptp(combined)) < ALIKE
        for combined in (logarithms[0] - logarithms[1], logarithms[0] + logarithms[1])
    )


def _joined(pair: Pair) -> Figures:
    return np.concatenate(medians_of(pair))
