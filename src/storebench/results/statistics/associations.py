"""Rank the figures that differ together with a verdict. A figure that goes along with a difference need not cause it.

Each figure is tested as the metric is: the same units, the same t-test. A figure that is 0 or below in some unit has no logarithm: the test
then compares the plain figures, and the figure has no ratio.
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
ALIKE = 1e-3  # a figure whose ratio to the metric, or product with it, varies less repeats the metric


@dataclass(frozen=True)
class Candidate:
    """A figure of the units of both sides. `adds_up`: its seconds can be a part of the metric's seconds."""

    pair: Pair
    adds_up: bool = False


@dataclass(frozen=True)
class Association:
    """A figure that differs together with the metric. `ratio`: of the geometric means, B / A; None for a figure that is 0 or below in a unit.

    `median_before`, `median_after`: of the units. `share`: the share of the metric's difference that the difference of these seconds covers,
    at most 1; None for a figure that does not add up.
    """

    ratio: float | None
    interval: Interval | None
    median_before: float
    median_after: float
    share: float | None
    p_adjusted: float


@dataclass(frozen=True)
class _Figure:
    """A candidate's effect on a scale: `is_log` for logarithms. `means`: of both sides, in the figure's unit."""

    candidate: Candidate
    effect: Effect
    is_log: bool
    means: tuple[float, float]
    medians: tuple[float, float]


def varying(candidates: Mapping[Key, Candidate], metric: Pair) -> dict[Key, Candidate]:
    """Return the candidates with enough units on both sides that are not the same in all units, and do not repeat the metric."""
    return {
        key: candidate
        for key, candidate in candidates.items()
        if has_enough(candidate) and not _is_constant(candidate.pair) and not _repeats(candidate.pair, metric)
    }


def has_enough(candidate: Candidate) -> bool:
    """Return whether a candidate has as many units on each side as a verdict needs."""
    return min(len(candidate.pair.before), len(candidate.pair.after)) >= MIN_UNITS


def associated(verdict: Verdict, candidates: Mapping[Key, Candidate]) -> dict[Key, Association]:
    """Return the candidates that differ together with a verdict that tells its sides apart, ranked by how much of it they may explain.

    The rank of a figure is the smallest share that the figure's interval allows. The share of seconds that add up is their difference,
    divided by the metric's difference. The share of any other figure is the logarithm of its ratio, divided by the logarithm of the metric's
    ratio: as if the metric grew in proportion. Shares above 1 are equal; then the larger ratio comes first. `candidates`: see `varying`.
    """
    figures = {key: figure for key, candidate in candidates.items() if (figure := _figure(candidate))}
    ranked = []
    for key, test in tested({key: figure.effect for key, figure in figures.items()}).items():
        if test.p_adjusted > 1 - CONFIDENCE:
            continue
        figure = figures[key]
        distance, share = _least(figure, test, verdict)
        if share >= LEAST_SHARE:
            ranked.append(((min(share, 1.0), distance), key, _association(figure, test, verdict)))
    ranked.sort(key=lambda line: line[0], reverse=True)
    return {key: association for _, key, association in ranked}


def _figure(candidate: Candidate) -> _Figure | None:
    before, after = medians_of(candidate.pair)
    medians = float(np.median(before)), float(np.median(after))
    matched = candidate.pair.matched
    if min(*before, *after) > 0:
        logarithms = np.log(before), np.log(after)
        means = math.exp(trimmed_mean(logarithms[0])), math.exp(trimmed_mean(logarithms[1]))
        effect = effect_between(*logarithms, matched=matched)
        return _Figure(candidate, effect, True, means, medians) if effect else None
    effect = effect_between(before, after, matched=matched)
    plain = trimmed_mean(before), trimmed_mean(after)
    return _Figure(candidate, effect, False, plain, medians) if effect else None


def _least(figure: _Figure, test: Tested, verdict: Verdict) -> tuple[float, float]:
    """Return the smallest distance from 1 that the interval allows, as a logarithm, and the smallest share; 0 for seconds that go the other
    way.
    """
    near = test.low if test.low > 0 else test.high  # the interval excludes 0
    distance = abs(near)
    if not figure.is_log:
        smaller = min(figure.means)
        distance = math.log1p(distance / smaller) if smaller > 0 else math.inf
    if figure.candidate.adds_up:
        return distance, _covered(figure, near, verdict)
    assert verdict.ratio is not None
    return distance, distance / abs(math.log(verdict.ratio))


def _covered(figure: _Figure, effect: float, verdict: Verdict) -> float:
    """Return the share of the metric's difference that an effect of this figure covers; negative for seconds that go the other way."""
    assert verdict.mean_before is not None and verdict.mean_after is not None
    seconds = figure.means[0] * math.expm1(effect) if figure.is_log else effect
    return seconds / (verdict.mean_after - verdict.mean_before)


def _association(figure: _Figure, test: Tested, verdict: Verdict) -> Association:
    ratio = interval = None
    if figure.is_log:
        ratio = math.exp(figure.effect.size)
        interval = test.of_ratio
    share = _covered(figure, figure.effect.size, verdict) if figure.candidate.adds_up else None
    return Association(
        ratio, interval, *figure.medians, None if share is None else min(share, 1.0), test.p_adjusted
    )


def _is_constant(pair: Pair) -> bool:
    figures = _joined(pair)
    return bool(np.all(figures == figures[0]))


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
