"""The ranking of figures that go along with a verdict, by simulated repeats with planted causes."""

import numpy as np
import pytest

from storebench.results.statistics.associations import Candidate, associated, varying
from storebench.results.statistics.verdicts import Pair, verdicts_of

UNITS = 5  # the fewest with a verdict
NOISE = 30  # number of figures that differ by chance only


def pair(before, after, matched=False):
    return Pair(*([[float(value)] for value in side] for side in (before, after)), matched=matched)


def drawn(random, before, after, noise):
    """Draw the figures of both sides around their means, with a noise of their logarithms."""
    return pair(*(mean * np.exp(random.normal(0, noise, UNITS)) for mean in (before, after)))


def chance(random):
    """Draw figures that do not differ: seconds that add up, large numbers, and small counts with zeros."""
    found = {}
    for n in range(NOISE):
        if n % 3 == 0:
            found[f"seconds {n}"] = Candidate(drawn(random, 3, 3, 0.2), adds_up=True)
        elif n % 3 == 1:
            found[f"bytes {n}"] = Candidate(drawn(random, 1e9, 1e9, 0.3))
        else:
            found[f"count {n}"] = Candidate(pair(random.poisson(2, UNITS), random.poisson(2, UNITS)))
    return found


def listed(metric, candidates):
    (verdict,) = verdicts_of({"metric": metric}).values()
    assert verdict.tells_apart
    return associated(verdict, varying(candidates, metric))


PLANTED = {
    "seconds": lambda random: Candidate(drawn(random, 2, 4.5, 0.1), adds_up=True),
    "a count with zeros": lambda random: Candidate(
        pair(random.poisson(0.2, UNITS), random.poisson(9, UNITS))
    ),
    "a count without noise": lambda random: Candidate(pair([1] * UNITS, [200] * UNITS)),
    "bytes": lambda random: Candidate(drawn(random, 1e9, 2e9, 0.1)),
    "hits that became fewer": lambda random: Candidate(drawn(random, 1e6, 1e5, 0.3)),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_cause_is_among_the_first_three_of_many_figures(planted):
    found = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        metric = drawn(random, 10, 13, 0.04)
        ranked = listed(metric, {**chance(random), "planted": PLANTED[planted](random)})
        found += "planted" in list(ranked)[:3]
    assert found >= 19


def test_without_a_cause_at_most_the_expected_share_of_lists_has_a_figure():
    """The chance of more than 9 of 100 lists is 3 % if each has a figure with a chance of 5 %."""
    wrong = 0
    for seed in range(100):
        random = np.random.default_rng(1000 + seed)
        wrong += bool(listed(drawn(random, 10, 13, 0.04), chance(random)))
    assert wrong <= 9


def test_seconds_rank_by_the_share_that_they_cover_and_other_figures_by_their_ratio():
    metric = pair([10, 10.1, 10.2, 9.9, 10], [20, 20.2, 19.8, 20.1, 20])
    flat = [1, 1.01, 0.99, 1, 1.02]
    candidates = {
        "most": Candidate(pair(flat, np.array(flat) * 9), adds_up=True),
        "little": Candidate(
            pair(np.array(flat) / 100, flat), adds_up=True
        ),  # 100 times as long, but 1 s of 10 s
        "less than 5 %": Candidate(pair(np.array(flat) / 100, np.array(flat) / 5), adds_up=True),
        "the other way": Candidate(pair(np.array(flat) * 9, flat), adds_up=True),
        "fourfold": Candidate(pair(flat, np.array(flat) * 4)),
        "tenth more": Candidate(pair(flat, np.array(flat) * 1.1)),
        "from nothing": Candidate(pair([0] * 5, [7, 8, 9, 8, 8])),
    }
    ranked = listed(metric, candidates)
    assert list(ranked) == ["from nothing", "fourfold", "most", "tenth more", "little"]
    assert ranked["most"].share == pytest.approx(0.8, abs=0.01)
    assert ranked["fourfold"].share is None and ranked["fourfold"].ratio == pytest.approx(4)
    assert (ranked["from nothing"].ratio, ranked["from nothing"].interval) == (None, None)
    assert (ranked["from nothing"].median_before, ranked["from nothing"].median_after) == (0, 8)


def test_faster_sides_are_explained_as_slower_sides_are():
    slow, fast = [20, 20.2, 19.8, 20.1, 20], [10, 10.1, 10.2, 9.9, 10]
    ranked = listed(
        pair(slow, fast), {"wait": Candidate(pair([9, 9.2, 9.1, 8.8, 9], [1, 1.1, 1, 0.9, 1]), adds_up=True)}
    )
    assert ranked["wait"].share == pytest.approx(0.8, abs=0.01) and ranked["wait"].ratio < 1


def test_pairs_of_units_are_compared_within_each_pair():
    drift = np.array([1, 2, 4, 8, 16])
    noise = np.array([1, 1.01, 0.99, 1, 1.02])
    metric = pair(10 * drift, 13 * drift * noise, matched=True)
    reads = pair(5 * drift * noise, 10 * drift, matched=True)
    assert list(listed(metric, {"reads": Candidate(reads)})) == ["reads"]


def test_figures_that_cannot_tell_anything_are_not_looked_at():
    metric = pair([10, 11, 12, 10, 11], [20, 21, 22, 20, 23])
    rates = pair([1 / 10, 1 / 11, 1 / 12, 1 / 10, 1 / 11], [1 / 20, 1 / 21, 1 / 22, 1 / 20, 1 / 23])
    candidates = {
        "the metric": Candidate(metric, adds_up=True),
        "its rate": Candidate(rates),
        "the same in all": Candidate(pair([7] * 5, [7] * 5)),
        "in too few units": Candidate(pair([1, 2, 3, 4], [5, 6, 7, 8, 9])),
        "a count": Candidate(pair([1, 2, 1, 2, 1], [1, 1, 1, 2, 1])),
    }
    assert list(varying(candidates, metric)) == ["a count"]
