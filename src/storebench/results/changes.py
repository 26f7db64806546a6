"""Find the change points of a history of figures.

It is E-Divisive (Matteson, James 2014: A nonparametric approach for multiple change point analysis of multivariate data), which finds changes
of performance in MongoDB's and others' continuous integration, too (Daly and others 2020). Figures are cut in two where the energy distance
between both parts is greatest, and again within the parts, as long as cuts are significant. Whether one is, a permutation test says: it
assumes nothing of the figures' distribution but that they are independent of each other while nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from storebench.results.statistics import Values
from storebench.results.verdicts import MIN_UNITS

MIN_LEVEL = MIN_UNITS  # figures of a level: as many as each side of a verdict needs
MIN_FIGURES = 2 * MIN_LEVEL  # with fewer no change can be told
SIGNIFICANCE = 0.01  # of a cut: so often is a change seen where there is none
PERMUTATIONS = 199
MOST = 300  # figures that are looked at, the newest: the work grows with their square
METHOD = (
    f"E-Divisive: energy distance, p ≤ {SIGNIFICANCE} by {PERMUTATIONS} permutations, levels of at least {MIN_LEVEL} runs, each run"
    " by its median"
)

Matrix = npt.NDArray[np.float64]
Cut = tuple[float, int]  # how far it tells apart, and the place where the second part begins


def levels(figures: Values) -> list[Sequence[float]]:
    """At least one figure, in the order of time, cut into their levels; one level where nothing changes. Of more than MOST the first ones are left out."""
    newest = list(figures)[-MOST:]
    ends = [*change_points(tuple(newest)), len(newest)]
    return [newest[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@lru_cache(maxsize=1024)
def change_points(figures: tuple[float, ...]) -> tuple[int, ...]:
    """Return the positions at which new levels begin. Fewer than MIN_FIGURES figures have none."""
    random = np.random.default_rng(0)  # the same figures always have the same changes
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
        """Make a part, and compute the distances between its figures."""
        return _Part(values, begin, np.abs(values[:, None] - values[None, :]))

    def shuffled_cut(self, random: np.random.Generator) -> float:
        """How far the best cut tells apart when the figures are in a random order."""
        if len(self.values) < MIN_FIGURES:
            return 0.0
        order = random.permutation(len(self.values))
        return _best_cut(self.distances[np.ix_(order, order)])[0]


def _best_cut(distances: Matrix) -> Cut:
    """The cut whose parts are the farthest from each other, of all that leave both at least MIN_LEVEL. The second part may end before the
    figures do: so a level is found behind which others follow. (0, 0) where there is none.
    """
    n = len(distances)
    if n < MIN_FIGURES:
        return 0.0, 0
    total = np.zeros((n + 1, n + 1))
    total[1:, 1:] = distances.cumsum(0).cumsum(1)  # of the first so many with the first so many
    first = np.arange(MIN_LEVEL, n - MIN_LEVEL + 1)[:, None]  # figures before the cut
    end = np.arange(MIN_FIGURES, n + 1)[None, :]  # where the second part ends
    second = end - first
    within_first, within_both, across = total[first, first], total[end, end], total[first, end]
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # where the second part is too short, which is left out below
        distance = (
            2 * (across - within_first) / (first * second)
            - within_first / (first * (first - 1))
            - (within_both - 2 * across + within_first) / (second * (second - 1))
        )
        apart = np.where(second >= MIN_LEVEL, distance * first * second / end, -np.inf)
    place, _ = np.unravel_index(np.argmax(apart), apart.shape)
    return float(apart.max()), int(first[place, 0])


def _significant(parts: Sequence[_Part], apart: float, random: np.random.Generator) -> bool:
    """Return whether a cut as good as `apart` is rare enough when the figures of each part are in random order."""
    allowed = int(SIGNIFICANCE * (PERMUTATIONS + 1)) - 1
    exceeded = 0
    for _ in range(PERMUTATIONS):
        exceeded += max(part.shuffled_cut(random) for part in parts) >= apart
        if exceeded > allowed:
            return False
    return True
