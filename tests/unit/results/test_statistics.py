import random
import statistics as stdlib

import pytest

from storebench.results.statistics import noise_floor, summarize, verdicts


def noisy(seed, median_s=1.0, spread=0.03, n=10):
    draw = random.Random(seed)
    return [median_s * draw.gauss(1, spread) for _ in range(n)]


def test_a_summary_has_the_usual_figures():
    found = summarize([5.0, 1.0, 4.0, 2.0, 3.0])
    assert (found.n, found.median_s, found.min_s, found.max_s) == (5, 3.0, 1.0, 5.0)
    assert (found.first_quartile_s, found.third_quartile_s) == (2.0, 4.0)
    assert found.interval.low <= 3.0 <= found.interval.high
    assert found.half_width == pytest.approx((found.interval.high - found.interval.low) / 6)


def test_fewer_than_three_values_have_no_interval():
    assert summarize([1.0, 2.0]).interval is None
    assert summarize([1.0, 2.0]).half_width == float("inf")


def test_the_interval_covers_the_true_median_about_as_often_as_it_says():
    covered = 0
    for seed in range(100):
        interval = summarize(noisy(seed, n=15)).interval
        covered += interval.low <= 1.0 <= interval.high
    assert 85 <= covered <= 100


def test_the_same_values_give_the_same_interval():
    assert summarize(noisy(1)) == summarize(noisy(1))


def test_what_is_alike_cannot_be_told_apart():
    found = verdicts({n: (noisy(2 * n), noisy(2 * n + 1)) for n in range(40)})
    told = [verdict for verdict in found.values() if verdict.label != "cannot tell"]
    assert len(told) <= 2
    assert 0 < noise_floor(list(found.values())) < 0.06


def test_a_slowdown_of_a_fifth_in_one_cell_of_many_is_found():
    pairs = {n: (noisy(2 * n), noisy(2 * n + 1)) for n in range(20)}
    pairs["slow"] = (noisy(100), noisy(101, median_s=1.2))
    pairs["fast"] = (noisy(102, median_s=1.2), noisy(103))
    found = verdicts(pairs)
    assert found["slow"].label == "slower" and found["slow"].ratio == pytest.approx(1.2, rel=0.05)
    assert found["fast"].label == "faster"
    assert found["slow"].interval.low < found["slow"].ratio < found["slow"].interval.high


def test_a_difference_within_the_margin_does_not_count_however_sure_it_is():
    pair = {"a": (noisy(1, spread=0.001), noisy(2, median_s=1.03, spread=0.001))}
    assert verdicts(pair)["a"].label == "cannot tell"
    assert verdicts(pair)["a"].p < 0.001
    assert verdicts(pair, margin=0.01)["a"].label == "slower"


def test_p_values_are_corrected_for_their_number():
    one = verdicts({0: (noisy(1), noisy(2))})
    assert one[0].p == one[0].p_adjusted
    many = verdicts({n: (noisy(2 * n), noisy(2 * n + 1)) for n in range(20)})
    assert all(verdict.p_adjusted >= verdict.p for verdict in many.values())


def test_too_few_repeats_say_nothing_and_hide_nothing():
    found = verdicts({"few": ([1.0, 1.1], [9.0, 9.1])})["few"]
    assert (found.label, found.interval, found.p) == ("cannot tell", None, None)
    assert found.ratio == pytest.approx(stdlib.median([9.0, 9.1]) / stdlib.median([1.0, 1.1]))


def test_no_pair_no_verdict():
    assert verdicts({}) == {}
