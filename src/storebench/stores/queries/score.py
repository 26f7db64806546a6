"""Compute the geometric mean of a store's times by ClickBench's rules."""

from __future__ import annotations

import math
from collections.abc import Sequence

SHIFT_S = 0.01  # added to each time: otherwise a time near 0 would outweigh all other questions
LEAST_MISSING_S = 300.0
MISSING_FOLD = 2.0


def geometric_mean_s(times_s: Sequence[float], missing: int = 0) -> float:
    """Return the geometric mean of the seconds of each question, shifted by SHIFT_S.

    `missing`: number of questions without a time. Each counts as twice the store's longest time, or as twice 300 s if that is longer.
    ClickBench divides each time by the best store's time. The divisors are the same for all stores, so the order of the stores is the same
    without them.
    """
    penalty_s = MISSING_FOLD * max(LEAST_MISSING_S, *times_s)
    logarithms = [math.log(time_s + SHIFT_S) for time_s in (*times_s, *[penalty_s] * missing)]
    return math.exp(math.fsum(logarithms) / len(logarithms)) - SHIFT_S
