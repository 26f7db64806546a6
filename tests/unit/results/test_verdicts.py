import random
import statistics as stdlib

import numpy as np
import pytest
from scipy import stats

from storebench.results.statistics.power import explained
from storebench.results.statistics.verdicts import (
    Pair,
    alike_share,
    effect_of,
    noise_floor,
    verdicts_of,
)


def noisy(seed, median_s=1.0, spread=0.03, n=10):
    """Return a side of n independent repeats."""
    draw = random.Random(seed)
    return [[median_s * draw.gauss(1, spread)] for _ in range(n)]


def alike(pairs, **options):
    return {n: Pair(noisy(2 * n, **options), noisy(2 * n + 1, **options)) for n in range(pairs)}


def test_what_is_alike_is_not_told_apart():
    found = list(verdicts_of(alike(40)).values())
    assert alike_share(found) == 1
    assert 0 < noise_floor(found) < 0.06


def test_a_slowdown_of_a_fifth_in_one_cell_of_many_is_found():
    pairs = alike(20) | {
        "slow": Pair(noisy(100), noisy(101, median_s=1.2)),
        "fast": Pair(noisy(102, median_s=1.2), noisy(103)),
    }
    found = verdicts_of(pairs)
    assert found["slow"].label == "worse" and found["slow"].ratio == pytest.approx(1.2, rel=0.05)
    assert found["fast"].label == "better"
    assert found["slow"].interval.low < found["slow"].ratio < found["slow"].interval.high


def test_five_repeats_can_tell_among_the_studys_pairs():
    pairs = alike(32, n=5) | {"slow": Pair(noisy(100, n=5), noisy(101, median_s=1.2, n=5))}
    assert verdicts_of(pairs)["slow"].label == "worse"


def test_what_lies_within_the_margin_is_the_same_however_sure_its_difference_is():
    pair = {"a": Pair(noisy(1, spread=0.001), noisy(2, median_s=1.03, spread=0.001))}
    assert verdicts_of(pair)["a"].label == "the same"
    assert verdicts_of(pair)["a"].p < 0.001
    assert verdicts_of(pair, margin=0.01)["a"].label == "worse"


def test_an_interval_that_leaves_the_margin_is_not_the_same():
    pair = {"a": Pair(noisy(1, spread=0.08), noisy(2, spread=0.08))}
    found = verdicts_of(pair)["a"]
    assert found.label == "cannot tell" and found.interval.high > 1.05


def test_test_and_interval_are_scipys():
    before, after = noisy(1, n=6), noisy(2, n=5)
    logs = [np.log(np.ravel(side)) for side in (after, before)]
    expected = stats.ttest_ind(*logs, equal_var=False)
    found = verdicts_of({"a": Pair(before, after)})["a"]
    assert found.p == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval()
    assert (found.interval.low, found.interval.high) == pytest.approx((np.exp(ends.low), np.exp(ends.high)))
    before, after = noisy(1, n=12, spread=0.2), noisy(2, n=9)
    logs = [np.log(np.ravel(side)) for side in (after, before)]
    trimmed = stats.ttest_ind(*logs, equal_var=False, trim=0.1)
    assert verdicts_of({"a": Pair(before, after)})["a"].p == pytest.approx(trimmed.pvalue)
    matched = stats.ttest_rel(*(np.log(np.ravel(noisy(seed, n=5))) for seed in (4, 3)))
    found = verdicts_of({"a": Pair(noisy(3, n=5), noisy(4, n=5), matched=True)})["a"]
    assert found.p == pytest.approx(matched.pvalue)


def test_one_outlier_hides_no_slowdown():
    before, after = noisy(1, n=10), noisy(2, median_s=1.2, n=10)
    before[3] = [3.0]
    assert verdicts_of({"a": Pair(before, after)})["a"].label == "worse"


@pytest.mark.parametrize("n", [1, 4, 10])
def test_a_ratio_is_made_of_the_means_that_stand_beside_it(n):
    found = verdicts_of({"a": Pair(noisy(1, n=n), noisy(2, median_s=1.2, n=n))})["a"]
    assert found.ratio == pytest.approx(found.mean_after / found.mean_before)
    if n == 4:
        assert found.mean_before == pytest.approx(stdlib.geometric_mean([s for (s,) in noisy(1, n=4)]))


def test_matched_units_lose_what_they_share():
    drift = [1.0, 1.5, 0.8, 1.3, 0.9]
    before = [[d * s for (s,) in noisy(n, n=3)] for n, d in enumerate(drift)]
    after = [[1.2 * d * s for (s,) in noisy(10 + n, n=3)] for n, d in enumerate(drift)]
    assert verdicts_of({"a": Pair(before, after, matched=True)})["a"].label == "worse"
    assert verdicts_of({"a": Pair(before, after)})["a"].label == "cannot tell"


def test_a_run_counts_once_however_many_repeats_it_has():
    before, after = [noisy(n, n=20) for n in range(5)], [noisy(10 + n, n=20) for n in range(5)]
    before, after = ([[s for (s,) in run] for run in side] for side in (before, after))
    found = verdicts_of({"a": Pair(before, after)})["a"]
    assert (found.n_before, found.units_before, found.n_after, found.units_after) == (100, 5, 100, 5)
    assert effect_of(Pair(before, after)).df <= 8


def test_p_values_are_corrected_for_their_number():
    one = verdicts_of(alike(1))
    assert one[0].p == one[0].p_adjusted
    many = verdicts_of(alike(20))
    assert all(verdict.p_adjusted >= verdict.p for verdict in many.values())
    assert min(verdict.p_adjusted for verdict in many.values()) > min(verdict.p for verdict in many.values())


def test_too_few_repeats_say_nothing_and_hide_nothing():
    found = verdicts_of({"few": Pair(noisy(1, n=4), noisy(2, median_s=9.0, n=5))})["few"]
    assert (found.label, found.interval, found.p) == ("cannot tell", None, None)
    assert found.noise.deviation > 0
    found = verdicts_of({"few": Pair([[1.0]], [[9.0], [9.1]])})["few"]
    assert (found.label, found.interval, found.p, found.noise) == ("cannot tell", None, None, None)
    assert found.ratio == pytest.approx(stdlib.geometric_mean([9.0, 9.1]))
    assert (found.median_before, found.median_after) == (1.0, 9.05)


def test_repeats_without_any_noise_are_told():
    found = verdicts_of({"same": Pair([[1.0]] * 5, [[1.0]] * 5), "slow": Pair([[1.0]] * 5, [[2.0]] * 5)})
    assert (found["same"].label, found["slow"].label) == ("the same", "worse")


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.0), (0.0, 2.0), (2.0, 0.0), (-1.0, 2.0), (1e-9, 0.0)])
def test_figures_of_0_or_below_have_no_ratio_and_are_never_the_same(before, after):
    pairs = {"none": Pair([[before]] * 5, [[after]] * 5), "slow": Pair(noisy(1), noisy(2, median_s=1.2))}
    found = verdicts_of(pairs)
    none = found["none"]
    assert (none.label, none.ratio, none.interval, none.p, none.mean_after) == ("cannot tell", *[None] * 4)
    assert (none.median_before, none.median_after) == (before, after)
    assert effect_of(pairs["none"]) is None, "there is no noise to plan with"
    assert found["slow"] == verdicts_of({"slow": pairs["slow"]})["slow"], "it counts as no other pair"
    explained_ = explained(found, units="repeats", margin=0.05)["none"]
    assert explained_.reason == "figures of 0 or below cannot be compared by their ratio"
    assert noise_floor(list(found.values())) > 0.1


def test_small_figures_are_compared_as_they_are():
    found = verdicts_of({"small": Pair([[1e-9]] * 5, [[2e-9]] * 5)})["small"]
    assert (found.label, found.ratio) == ("worse", pytest.approx(2))


def test_no_pair_no_verdict():
    assert verdicts_of({}) == {}


@pytest.mark.parametrize(
    ("better", "more", "less"),
    [("lower", "worse", "better"), ("higher", "better", "worse"), ("neither", "higher", "lower")],
)
def test_a_verdict_says_which_way_is_better(better, more, less):
    low, high = noisy(1), noisy(2, median_s=1.5)
    found = verdicts_of({"more": Pair(low, high, better=better), "less": Pair(high, low, better=better)})
    assert (found["more"].label, found["less"].label) == (more, less)
    assert all(verdict.tells_apart for verdict in found.values())
    assert [name for name in found if found[name].is_worse] == {
        "worse": ["more"],
        "better": ["less"],
        "higher": [],
    }[more]


def test_how_much_worse_it_is_follows_from_which_way_is_better():
    before, after = [[2.0], [2.02], [2.01], [2.0], [2.02]], [[1.0], [1.01], [1.005], [1.0], [1.01]]
    fewer = Pair(before, after, better="higher")
    more = Pair(fewer.after, fewer.before, better="higher")
    slower = Pair(more.before, more.after)
    found = verdicts_of({"fewer": fewer, "more": more, "slower": slower})
    assert found["fewer"].ratio == pytest.approx(0.5, rel=0.01)
    assert found["fewer"].worse_by == pytest.approx(1.0, rel=0.01), "it takes twice as long"
    assert found["more"].worse_by == pytest.approx(-0.5, rel=0.01)
    assert found["slower"].worse_by == pytest.approx(found["fewer"].worse_by)
    for verdict in found.values():
        assert verdict.worse_by < verdict.worse_by_at_most
    assert found["fewer"].worse_by_at_most == pytest.approx(1 / found["fewer"].interval.low - 1)
    assert found["slower"].worse_by_at_most == pytest.approx(found["slower"].interval.high - 1)


def test_what_has_no_interval_may_be_worse_by_anything():
    few = Pair([[1.0]], [[1.0]], better="higher")
    assert verdicts_of({"few": few})["few"].worse_by_at_most is None
