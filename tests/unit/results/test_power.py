import numpy as np
import pytest

from storebench.results.statistics.power import MOST_UNITS, explained, power, units_for
from storebench.results.statistics.verdicts import MIN_UNITS, Noise, Pair, verdicts_of

PAIRS = 10
MARGIN = 0.05


def noise_of(deviation, *, matched=False):
    return Noise(deviation, deviation, matched)


def sides(rng, noise, n, ratio):
    """Return the seconds of n units of two sides."""
    shared = rng.normal(0, 0.5 if noise.matched else 0.0, n)
    share = 1 / np.sqrt(2) if noise.matched else 1
    before, after = (shared + rng.normal(0, noise.deviation * share, n) for _ in range(2))
    return Pair(*([[s] for s in np.exp(side)] for side in (before, after + np.log(ratio))), noise.matched)


@pytest.mark.parametrize("matched", [False, True])
@pytest.mark.parametrize(("deviation", "ratio"), [(0.03, 1.2), (0.08, 1.2), (0.03, 1.1), (0.05, 1 / 1.2)])
def test_so_many_units_find_a_difference_as_often_as_is_promised(deviation, ratio, matched):
    noise, rng = noise_of(deviation, matched=matched), np.random.default_rng(1)
    n = units_for(noise, ratio, pairs=PAIRS, margin=MARGIN)

    def found(n):
        labels = []
        for _ in range(300):
            pairs = {key: sides(rng, noise, n, 1.0) for key in range(PAIRS - 1)}
            labels.append(verdicts_of({**pairs, "differs": sides(rng, noise, n, ratio)})["differs"].label)
        return np.mean([label == ("worse" if ratio > 1 else "better") for label in labels])

    assert found(n) >= 0.86  # 0.9, in 300 draws; trimming costs a little
    assert n == MIN_UNITS or power(noise, n - 1, ratio, pairs=PAIRS, margin=MARGIN) < 0.9


def test_so_many_units_show_that_two_sides_are_the_same():
    noise, rng = noise_of(0.05), np.random.default_rng(1)
    n = units_for(noise, 1.0, pairs=PAIRS, margin=MARGIN)
    found = verdicts_of({key: sides(rng, noise, n, 1.0) for key in range(500)})
    assert np.mean([verdict.label == "the same" for verdict in found.values()]) >= 0.86


def test_more_noise_more_pairs_and_a_smaller_difference_take_more():
    def needed(deviation=0.05, ratio=1.2, pairs=PAIRS, margin=MARGIN):
        return units_for(noise_of(deviation, matched=True), ratio, pairs=pairs, margin=margin)

    assert needed() < needed(deviation=0.1)
    assert needed() < needed(ratio=1.1)
    assert needed() < needed(pairs=1000)
    assert needed() < needed(margin=0.1)
    assert needed(deviation=0) == needed(deviation=0, ratio=1.0) == 5, "fewer have no verdict"


def test_where_few_units_are_not_trimmed_their_outliers_count():
    def needed(deviation, trimmed):
        return units_for(Noise(deviation, trimmed, matched=True), 1.2, pairs=PAIRS, margin=MARGIN)

    assert needed(0.04, 0.04) < 10
    assert needed(0.15, 0.04) == 10, "the fewest that are trimmed"


def test_what_lies_at_the_margin_no_number_of_repeats_tells():
    noise = noise_of(0.05)
    assert units_for(noise, 1.05, pairs=1, margin=MARGIN) is None
    assert power(noise, MOST_UNITS, 1.05, pairs=1, margin=MARGIN) < 0.1


def reason(before, after, *, others=0, matched=False, margin=MARGIN):
    alike = [[1.0], [1.2], [0.9], [1.1], [1.0]]
    pairs = {n: Pair(alike, alike[::-1], matched) for n in range(others)}
    pairs["one"] = Pair([[s] for s in before], [[s] for s in after], matched)
    found = verdicts_of(pairs, margin=margin)
    verdict = explained(found, units="turns", margin=margin)["one"]
    assert (verdict.label == "cannot tell") == (verdict.reason is not None)
    return verdict.reason, verdict.enough


def test_each_verdict_that_cannot_tell_says_why_and_how_many_would_do():
    text, enough = reason([1.0, 1.1, 0.9, 1.0, 1.0], [1.0, 1.2, 0.9, 1.0, 1.0])
    assert text == f"too noisy: with a noise of 8.9% about {enough} turns would do" and 20 < enough < 1000
    text, enough = reason([1.0, 1.01, 1.02, 1.0, 1.01], [1.08, 1.06, 1.07, 1.04, 1.06])
    assert text == f"near the margin: with a noise of 1.2% about {enough} turns would do" and enough > 5
    text, enough = reason([1.0, 1.04, 0.96, 1.05, 0.97], [1.12, 1.16, 1.08, 1.18, 1.09], others=200)
    assert text == f"too few turns for 201 pairs: with a noise of 3.9% about {enough} turns would do"
    assert 5 < enough < 20


def test_two_units_say_how_many_would_do_and_one_does_not_even_know_the_noise():
    text, enough = reason([1.0, 1.01], [1.3, 1.31, 1.32])
    assert text == "too few turns (A has 2, B 3; 5 at least): with a noise of 0.7% about 5 turns would do"
    assert enough == 5
    text = "too few turns (A has 1, B {}; 5 at least): the noise is not known"
    assert reason([1.0], [1.1, 1.2]) == (text.format(2), None)
    assert reason([1.0], [1.1], matched=True) == (text.format(1), None)


def test_where_no_number_of_repeats_would_do_it_says_so():
    text, enough = reason([1.0, 1.5, 0.7], [1.1, 1.4, 0.8])
    assert enough is None and text.endswith(" 1,000 turns would not do")


def test_what_was_told_has_no_reason():
    few = [1.0, 1.001, 1.002, 1.0, 1.001]
    assert reason(few, [2 * s for s in few]) == (None, None)
    assert reason(few, few) == (None, None)
