"""Compute the number of units that a verdict needs at a given noise, and explain inconclusive verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from storebench.results.statistics.intervals import CONFIDENCE
from storebench.results.statistics.verdicts import CANNOT_TELL, MIN_UNITS, Noise, Verdict

POWER = 0.9
MOST_UNITS = 1000
STEPS = 200  # the number of steps of a measured spread's distribution
NO_RATIO = "figures of 0 or below cannot be compared by their ratio"

Key = TypeVar("Key")


def power(noise: Noise, n: int, ratio: float, *, pairs: int, margin: float) -> float:
    """Return the chance of the right verdict for two sides with n units each whose true ratio is `ratio`.

    The right verdict is above or below for a ratio beyond the margin, and the same for a ratio within the margin. The pair counts as the
    only different pair of all `pairs`: then the correction for the number of pairs is strictest.
    """
    from scipy import stats

    x, edge, df = abs(math.log(ratio)), math.log1p(margin), noise.df(n)
    error = max(noise.error(n), 1e-12)
    # equally likely measured spreads; the chance of a verdict follows for each spread
    measured = error * np.sqrt(stats.chi2.ppf((np.arange(STEPS) + 0.5) / STEPS, df) / df)
    half = stats.t.ppf((1 + CONFIDENCE) / 2, df) * measured
    if x > edge:
        corrected = stats.t.isf((1 - CONFIDENCE) / 2 / pairs, df) * measured
        chances = stats.norm.sf((np.maximum(edge + half, corrected) - x) / error)
    else:
        room = np.maximum(edge - half, 0)
        chances = stats.norm.cdf((room - x) / error) - stats.norm.cdf((-room - x) / error)
    return float(np.mean(chances))


def units_for(noise: Noise, ratio: float, *, pairs: int, margin: float) -> int | None:
    """Return the fewest units on each side with the power POWER; None if more than MOST_UNITS are needed."""

    def enough(n: int) -> bool:
        return power(noise, n, ratio, pairs=pairs, margin=margin) >= POWER

    if not enough(MOST_UNITS):
        return None
    too_few, n = MIN_UNITS - 1, MOST_UNITS
    while n - too_few > 1:
        middle = (too_few + n) // 2
        if enough(middle):
            n = middle
        else:
            too_few = middle
    return n


def explained(verdicts: Mapping[Key, Verdict], *, units: str, margin: float) -> dict[Key, Verdict]:
    """Add the reason to each inconclusive verdict, and the number of units that would decide. `units`: plural name of the unit."""
    pairs = sum(verdict.ratio is not None for verdict in verdicts.values())
    return {
        key: _explained(verdict, units, pairs, margin) if verdict.label == CANNOT_TELL else verdict
        for key, verdict in verdicts.items()
    }


def _explained(verdict: Verdict, units: str, pairs: int, margin: float) -> Verdict:
    if verdict.ratio is None:
        return replace(verdict, reason=NO_RATIO)
    if verdict.interval is None:
        cause = (
            f"too few {units} (A has {verdict.units_before}, B {verdict.units_after}; {MIN_UNITS} at least)"
        )
    elif verdict.interval.low <= 1 <= verdict.interval.high:
        cause = "too noisy"
    elif any(
        verdict.interval.low <= edge <= verdict.interval.high for edge in (1 + margin, 1 / (1 + margin))
    ):
        cause = "near the margin"
    else:
        cause = f"too few {units} for {pairs} pairs"
    if verdict.noise is None:
        return replace(verdict, reason=f"{cause}: the noise is not known")
    enough = units_for(verdict.noise, verdict.ratio, pairs=pairs, margin=margin)
    would_do = f"about {enough:,} {units} would do" if enough else f"{MOST_UNITS:,} {units} would not do"
    noise = f"with a noise of {verdict.noise.deviation:.1%}"
    return replace(verdict, reason=f"{cause}: {noise} {would_do}", enough=enough)
