"""Find the change points of a history of figures.

The method is E-Divisive (Matteson, James 2014: A nonparametric approach for multiple change point analysis of multivariate data). MongoDB
and others use it to find changes of performance in continuous integration (Daly and others 2020). The figures are cut where the energy
distance between both parts is greatest, then the parts are cut again, as long as a permutation test finds the cuts significant. The test
assumes only that figures are independent of each other while nothing changes, and nothing about their distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from storebench.results.statistics.intervals import Values
from storebench.results.statistics.verdicts import MIN_UNITS

MIN_LEVEL = MIN_UNITS  # the fewest figures of a level, as on each side of a verdict
MIN_FIGURES = 2 * MIN_LEVEL  # the fewest figures in which a change can be found
SIGNIFICANCE = 0.01  # the chance of a cut without a change
PERMUTATIONS = 199
MOST = 300  # the number of newest figures to analyse: the work grows with its square
METHOD = (
    f"E-Divisive: energy distance, p ≤ {SIGNIFICANCE} by {PERMUTATIONS} permutations, levels of at least {MIN_LEVEL} runs, each run"
    " by its median"
)

Matrix = npt.NDArray[np.float64]
Cut = tuple[float, int]  # the distance between both parts, and the position of the second part


def levels(figures: Values) -> list[Sequence[float]]:
    """Cut figures into levels, a single level without changes. `figures`: at least one figure, ordered by time; only the newest MOST are used."""
    newest = list(figures)[-MOST:]
    ends = [*change_points(tuple(newest)), len(newest)]
    return [newest[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@lru_cache(maxsize=1024)
def change_points(figures: tuple[float, ...]) -> tuple[int, ...]:
    """Return the positions at which new levels begin. Fewer than MIN_FIGURES figures have none."""
    random = np.random.default_rng(0)  # equal figures always give equal changes
    values = np.array(figures)
    parts = [_Part.of(values, 0)]
    while True:
        best = max(parts, key=lambda part: part.cut[0])
        if best.cut[0] <= 0 or not _significant(parts, best.cut[0], random):
            return tuple(sorted(part.begin for part in parts if part.begin))
        parts.remove(best)
        parts += [
            _Part.of(best.values[: best.cut[1]], best.begin),
            _Part.of(best.values[best.cut[1] :], best.begin + best.cut[1]),
        ]


class _Part:
    """Consecutive figures from position `begin`, and their best cut."""

    def __init__(self, values: Matrix, begin: int, distances: Matrix) -> None:
        self.values = values
        self.begin = begin
        self.distances = distances
        self.cut = _best_cut(distances)

    @staticmethod
    def of(values: Matrix, begin: int) -> _Part:
        """Create a part with the distances between its figures."""
        return _Part(values, begin, np.abs(values[:, None] - values[None, :]))

    def shuffled_cut(self, random: np.random.Generator) -> float:
        """Return the distance of the best cut after shuffling the figures."""
        if len(self.values) < MIN_FIGURES:
            return 0.0
        order = random.permutation(len(self.values))
        return _best_cut(self.distances[np.ix_(order, order)])[0]


def _best_cut(distances: Matrix) -> Cut:
    """Return the cut with the greatest distance between its parts, each of at least MIN_LEVEL figures; (0, 0) without such a cut.

    The second part may end before the last figure, so that a level is found between other levels.
    """
    n = len(distances)
    if n < MIN_FIGURES:
        return 0.0, 0
    total = distances.cumsum(0).cumsum(
        1
    )  # total[i - 1, j - 1]: sum of distances between the first i and the first j figures
    within = total.diagonal()
    of_across, of_first, of_both, excluded = _weights(n)
    distance = of_across * total[MIN_LEVEL - 1 : n - MIN_LEVEL, MIN_FIGURES - 1 :]
    distance += of_first * within[MIN_LEVEL - 1 : n - MIN_LEVEL, None]
    distance += of_both * within[MIN_FIGURES - 1 :]
    distance += excluded
    best = int(distance.argmax())
    return float(distance.flat[best]), best // distance.shape[1] + MIN_LEVEL


@lru_cache(maxsize=16)
def _weights(n: int) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return the weights in the distance of each cut of n figures, by the number of figures before the cut and the end of the second part.

    The weights of the sums of distances across the cut, within the first part, and within both parts; and -inf for a second part that is
    too short.
    """
    first = np.arange(MIN_LEVEL, n - MIN_LEVEL + 1)[:, None]
    end = np.arange(MIN_FIGURES, n + 1)[None, :]
    second = np.maximum(end - first, MIN_LEVEL)
    size = first * second / end
    between, within_first = 2 / (first * second), 1 / (first * (first - 1))
    within_second = 1 / (second * (second - 1))  # the sum within the second part: both - 2 * across + first
    excluded = np.where(end - first >= MIN_LEVEL, 0.0, -np.inf)
    return (
        size * (between + 2 * within_second),
        -size * (between + within_first + within_second),
        -size * within_second,
        excluded,
    )


def _significant(parts: Sequence[_Part], distance: float, random: np.random.Generator) -> bool:
    """Return whether a cut with this distance is rare enough after shuffling the figures of each part."""
    allowed = int(SIGNIFICANCE * (PERMUTATIONS + 1)) - 1
    exceeded = 0
    for _ in range(PERMUTATIONS):
        exceeded += max(part.shuffled_cut(random) for part in parts) >= distance
        if exceeded > allowed:
            return False
    return True
