"""Distributions: values, and how often each was seen. They are merged by adding the counts, never averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

Histogram = Mapping[str, Sequence[float]]  # `values`, and `counts` of the same length

# Of the curve: each half of what is left to 100 % has as many points.
POINTS_PER_HALF = 5
HALVES = 24  # then one in some hundred million is left


def merged(histograms: Iterable[Histogram]) -> list[tuple[float, int]]:
    """The values of these histograms together, ascending, and how often each was seen."""
    total: Counter[float] = Counter()
    for one in histograms:
        for value, count in zip(one["values"], one["counts"], strict=True):
            total[value] += int(count)
    return sorted((value, count) for value, count in total.items() if count)


def curve(histograms: Iterable[Histogram]) -> list[tuple[float, float]]:
    """The percentiles of these histograms together: (percentile, value in the metric's unit), up to 100; empty where nothing was seen.

    A percentile is the least value that so many percent of all do not exceed. The points are as dense as the distribution's tail needs.
    """
    found = merged(histograms)
    seen = sum(count for _, count in found)
    points: list[tuple[float, float]] = []
    if not seen:
        return points
    below, place = found[0][1], 0
    for percent in _percents():
        needed = seen * percent / 100
        while below < needed and place + 1 < len(found):
            place += 1
            below += found[place][1]
        points.append((percent, found[place][0]))
        if seen - needed < 1:  # the largest alone is left
            break
    if points[-1][0] < 100:
        points.append((100.0, found[-1][0]))
    return points


def _percents() -> Iterator[float]:
    left = 100.0
    for _ in range(HALVES):
        for step in range(POINTS_PER_HALF):
            yield 100 - left + left / 2 * step / POINTS_PER_HALF
        left /= 2
