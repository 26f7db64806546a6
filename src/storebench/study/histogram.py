"""Merge histograms and compute their percentiles. Histograms are merged by adding the counts, never averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

Histogram = Mapping[str, Sequence[float]]  # `values` and their `counts`, of the same length

# Points of the curve: each halving of the distance to 100 % adds the same number of points.
POINTS_PER_HALF = 5
HALVES = 24  # the last point excludes about one value in a hundred million


def merged(histograms: Iterable[Histogram]) -> list[tuple[float, int]]:
    """Merge histograms: return each value and its count, ascending by value."""
    total: Counter[float] = Counter()
    for histogram in histograms:
        for value, count in zip(histogram["values"], histogram["counts"], strict=True):
            total[value] += int(count)
    return sorted((value, count) for value, count in total.items() if count)


def curve(histograms: Iterable[Histogram]) -> list[tuple[float, float]]:
    """Return the percentile curve of merged histograms: pairs of percentile (up to 100) and value in the metric's unit; [] without values.

    A percentile P is the least value that P percent of all values do not exceed. The points become denser towards the tail.
    """
    counts = merged(histograms)
    seen = sum(count for _, count in counts)
    points: list[tuple[float, float]] = []
    if not seen:
        return points
    below, place = counts[0][1], 0
    for percent in _percents():
        needed = seen * percent / 100
        while below < needed and place + 1 < len(counts):
            place += 1
            below += counts[place][1]
        points.append((percent, counts[place][0]))
        if seen - needed < 1:  # only the largest value remains
            break
    if points[-1][0] < 100:
        points.append((100.0, counts[-1][0]))
    return points


def _percents() -> Iterator[float]:
    remainder = 100.0
    for _ in range(HALVES):
        for step in range(POINTS_PER_HALF):
            yield 100 - remainder + remainder / 2 * step / POINTS_PER_HALF
        remainder /= 2
