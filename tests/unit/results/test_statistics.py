import numpy as np
import pytest

from storebench.results.statistics.intervals import summarize


def test_a_summary_has_the_usual_figures():
    found = summarize([5.0, 1.0, 4.0, 2.0, 3.0, 6.0])
    assert (found.n, found.median, found.min, found.max) == (6, 3.5, 1.0, 6.0)
    assert (found.first_quartile, found.third_quartile) == (2.25, 4.75)
    assert (found.interval.low, found.interval.high) == (1.0, 6.0)
    assert found.half_width == pytest.approx(2.5 / 3.5)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_too_few_values_to_reach_95_percent_have_no_interval(n):
    found = summarize([float(value) for value in range(1, n + 1)])
    assert found.interval is None
    assert found.half_width == float("inf")


# of the binomial distribution, as printed in textbooks
@pytest.mark.parametrize(
    ("n", "rank", "coverage"), [(6, 1, 0.969), (8, 1, 0.992), (9, 2, 0.961), (10, 2, 0.979), (20, 6, 0.959)]
)
def test_an_interval_goes_between_order_statistics_and_says_its_coverage(n, rank, coverage):
    values = list(range(1, n + 1))
    interval = summarize(values).interval
    assert (interval.low, interval.high) == (values[rank - 1], values[-rank])
    assert interval.coverage == pytest.approx(coverage, abs=0.0005)


@pytest.mark.parametrize("n", [6, 7, 12])
def test_an_interval_holds_the_true_median_as_often_as_it_says(n):
    draws = np.random.default_rng(n).lognormal(sigma=1.0, size=(4000, n))  # of which the median is 1
    intervals = [summarize(values).interval for values in draws]
    covered = np.mean([interval.low <= 1 <= interval.high for interval in intervals])
    assert covered == pytest.approx(intervals[0].coverage, abs=0.01)
    assert covered > 0.945


def test_quartiles_are_those_of_numpy():
    draws = np.random.default_rng(1)
    for n in range(1, 30):
        values = draws.lognormal(sigma=2.0, size=n).tolist()
        found = summarize(values)
        quartiles = found.first_quartile, found.median, found.third_quartile
        assert quartiles == tuple(np.percentile(values, [25, 50, 75]))
