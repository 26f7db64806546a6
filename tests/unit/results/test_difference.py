import random
import statistics as stdlib

import numpy as np
import pytest
from scipy import stats

from storebench.results.difference import (
    Pair,
    alike_share,
    effect_of,
    noise_floor,
    verdicts,
)


def noisy(seed, median_s=1.0, spread=0.03, n=10):
    """A side of n independent repeats."""
    draw = random.Random(seed)
    return [[median_s * draw.gauss(1, spread)] for _ in range(n)]


def alike(pairs, **options):
    return {n: Pair(noisy(2 * n, **options), noisy(2 * n + 1, **options)) for n in range(pairs)}


def test_what_is_alike_is_not_told_apart():
    found = list(verdicts(alike(40)).values())
    assert alike_share(found) == 1
    assert 0 < noise_floor(found) < 0.06


def test_a_slowdown_of_a_fifth_in_one_cell_of_many_is_found():
    pairs = alike(20) | {
        "slow": Pair(noisy(100), noisy(101, median_s=1.2)),
        "fast": Pair(noisy(102, median_s=1.2), noisy(103)),
    }
    found = verdicts(pairs)
    assert found["slow"].label == "slower" and found["slow"].ratio == pytest.approx(1.2, rel=0.05)
    assert found["fast"].label == "faster"
    assert found["slow"].interval.low < found["slow"].ratio < found["slow"].interval.high


def test_five_repeats_can_tell_among_the_studys_pairs():
    pairs = alike(32, n=5) | {"slow": Pair(noisy(100, n=5), noisy(101, median_s=1.2, n=5))}
    assert verdicts(pairs)["slow"].label == "slower"


def test_what_lies_within_the_margin_is_the_same_however_sure_its_difference_is():
    pair = {"a": Pair(noisy(1, spread=0.001), noisy(2, median_s=1.03, spread=0.001))}
    assert verdicts(pair)["a"].label == "the same"
    assert verdicts(pair)["a"].p < 0.001
    assert verdicts(pair, margin=0.01)["a"].label == "slower"


def test_an_interval_that_leaves_the_margin_is_not_the_same():
    pair = {"a": Pair(noisy(1, spread=0.08), noisy(2, spread=0.08))}
    found = verdicts(pair)["a"]
    assert found.label == "cannot tell" and found.interval.high > 1.05


def test_test_and_interval_are_scipys():
    before, after = noisy(1, n=6), noisy(2, n=5)
    logs = [np.log(np.ravel(side)) for side in (after, before)]
    expected = stats.ttest_ind(*logs, equal_var=False)
    found = verdicts({"a": Pair(before, after)})["a"]
    assert found.p == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval()
    assert (found.interval.low, found.interval.high) == pytest.approx((np.exp(ends.low), np.exp(ends.high)))
    before, after = noisy(1, n=12, spread=0.2), noisy(2, n=9)
    logs = [np.log(np.ravel(side)) for side in (after, before)]
    trimmed = stats.ttest_ind(*logs, equal_var=False, trim=0.1)
    assert verdicts({"a": Pair(before, after)})["a"].p == pytest.approx(trimmed.pvalue)
    matched = stats.ttest_rel(*(np.log(np.ravel(noisy(seed, n=5))) for seed in (4, 3)))
    found = verdicts({"a": Pair(noisy(3, n=5), noisy(4, n=5), matched=True)})["a"]
    assert found.p == pytest.approx(matched.pvalue)


def test_one_outlier_hides_no_slowdown():
    before, after = noisy(1, n=10), noisy(2, median_s=1.2, n=10)
    before[3] = [3.0]
    assert verdicts({"a": Pair(before, after)})["a"].label == "slower"


def test_matched_units_lose_what_they_share():
    drift = [1.0, 1.5, 0.8, 1.3]
    before = [[d * s for (s,) in noisy(n, n=3)] for n, d in enumerate(drift)]
    after = [[1.2 * d * s for (s,) in noisy(10 + n, n=3)] for n, d in enumerate(drift)]
    assert verdicts({"a": Pair(before, after, matched=True)})["a"].label == "slower"
    assert verdicts({"a": Pair(before, after)})["a"].label == "cannot tell"


def test_a_run_counts_once_however_many_repeats_it_has():
    before, after = [noisy(n, n=20) for n in range(3)], [noisy(10 + n, n=20) for n in range(3)]
    before, after = ([[s for (s,) in run] for run in side] for side in (before, after))
    found = verdicts({"a": Pair(before, after)})["a"]
    assert (found.n_before, found.units_before, found.n_after, found.units_after) == (60, 3, 60, 3)
    assert effect_of(Pair(before, after)).df <= 4


def test_p_values_are_corrected_for_their_number():
    one = verdicts(alike(1))
    assert one[0].p == one[0].p_adjusted
    many = verdicts(alike(20))
    assert all(verdict.p_adjusted >= verdict.p for verdict in many.values())
    assert min(verdict.p_adjusted for verdict in many.values()) > min(verdict.p for verdict in many.values())


def test_too_few_repeats_say_nothing_and_hide_nothing():
    found = verdicts({"few": Pair([[1.0], [1.1]], [[9.0], [9.1], [9.2]])})["few"]
    assert (found.label, found.interval, found.p) == ("cannot tell", None, None)
    assert found.noise.deviation > 0
    found = verdicts({"few": Pair([[1.0]], [[9.0], [9.1]])})["few"]
    assert (found.label, found.interval, found.p, found.noise) == ("cannot tell", None, None, None)
    assert found.ratio == pytest.approx(stdlib.geometric_mean([9.0, 9.1]))
    assert (found.median_before_s, found.median_after_s) == (1.0, 9.05)


def test_repeats_without_any_noise_are_told():
    found = verdicts({"same": Pair([[1.0]] * 3, [[1.0]] * 3), "slow": Pair([[1.0]] * 3, [[2.0]] * 3)})
    assert (found["same"].label, found["slow"].label) == ("the same", "slower")


def test_what_took_no_time_that_could_be_measured_has_a_verdict_all_the_same():
    found = verdicts({"nothing": Pair([[0.0]] * 3, [[0.0]] * 3)})["nothing"]
    assert (found.label, found.ratio) == ("the same", 1)


def test_no_pair_no_verdict():
    assert verdicts({}) == {}
