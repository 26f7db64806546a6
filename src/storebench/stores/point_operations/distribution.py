"""Percentiles and histograms of latencies: of the values themselves, and of counts, which several pods can add."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, Any]

DIGITS = 3  # significant digits of the histogram's values, the usual setting of HdrHistogram


@dataclass(frozen=True)
class Exact:
    """Latencies in seconds, ascending."""

    ordered: Numbers

    def __len__(self) -> int:
        return len(self.ordered)

    def percentile(self, percent: float) -> float:
        """Return the percentile of the values themselves."""
        return percentile(self.ordered, percent)

    def histogram(self) -> dict[float, int]:
        """Count the values, rounded to DIGITS significant digits."""
        return histogram(self.ordered)


@dataclass(frozen=True)
class Counted:
    """Latencies in seconds, rounded to DIGITS significant digits, and the count of each."""

    counts: Mapping[float, int]

    @classmethod
    def merged(cls, parts: Iterable[Mapping[float, int]]) -> Counted:
        """Add the counts of several histograms."""
        total: Counter[float] = Counter()
        for part in parts:
            total.update(part)
        return cls(total)

    def __len__(self) -> int:
        return sum(self.counts.values())

    def percentile(self, percent: float) -> float:
        """Return the percentile of the rounded values, by the definition of the function `percentile`."""
        ordered = sorted(self.counts)
        place = _place(len(self), percent)
        so_far = accumulate(self.counts[value] for value in ordered)
        return next(value for value, below in zip(ordered, so_far, strict=True) if below >= place)

    def histogram(self) -> dict[float, int]:
        """Return the count of each rounded value."""
        return dict(self.counts)


Distribution = Exact | Counted


def percentile(ordered: Numbers, percent: float) -> float:
    """Return the smallest value that `percent` percent of the values do not exceed, as load generators define it."""
    return float(ordered[_place(len(ordered), percent) - 1])


def _place(count: int, percent: float) -> int:
    return max(1, math.ceil(count * percent / 100 - 1e-9))


def histogram(values: Numbers) -> dict[float, int]:
    """Count the values, rounded to DIGITS significant digits."""
    import numpy as np

    positive = np.maximum(values, 1e-9)
    power = np.floor(np.log10(positive)) - (DIGITS - 1)
    values_at, counts = np.unique(
        np.stack([np.rint(positive / 10**power), power]), axis=1, return_counts=True
    )
    seen: dict[float, int] = {}
    for digits, exponent, count in zip(values_at[0], values_at[1], counts, strict=True):
        value = float(
            f"{int(digits)}e{int(exponent)}"
        )  # equal values get equal texts, without 0.30000000000000004
        seen[value] = seen.get(value, 0) + int(count)
    return seen
