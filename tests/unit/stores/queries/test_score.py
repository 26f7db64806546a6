"""The geometric mean by ClickBench's rules."""

import math

import pytest

from storebench.stores.queries.score import geometric_mean_s


def test_equal_times_are_their_own_mean():
    assert geometric_mean_s([0.25] * 10) == pytest.approx(0.25)


def test_a_time_of_nothing_does_not_win_alone():
    assert geometric_mean_s([0.0, 0.99]) == pytest.approx(math.sqrt(0.01 * 1.0) - 0.01)


def test_a_missing_answer_counts_as_600_seconds_or_twice_the_longest():
    assert geometric_mean_s([1.0], missing=1) == pytest.approx(math.sqrt(1.01 * 600.01) - 0.01)
    assert geometric_mean_s([400.0], missing=1) == pytest.approx(math.sqrt(400.01 * 800.01) - 0.01)


def test_the_order_is_that_of_clickbenchs_ratios():
    stores = {"a": [0.002, 0.5, 3.0], "b": [0.05, 0.4, 0.9], "c": [0.3, 0.1, 1.1]}
    best = [min(times) for times in zip(*stores.values(), strict=True)]

    def rating(times):
        ratios = [(0.01 + time) / (0.01 + least) for time, least in zip(times, best, strict=True)]
        return math.prod(ratios) ** (1 / len(ratios))

    by_rating = sorted(stores, key=lambda name: rating(stores[name]))
    assert by_rating == sorted(stores, key=lambda name: geometric_mean_s(stores[name]))
