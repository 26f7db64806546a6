"""Figures of the logs of load generators."""

import numpy as np
import pytest

from storebench.stores.point_operations.distribution import histogram, percentile
from storebench.stores.point_operations.requests import (
    DONE,
    SERVER,
    TIMEOUT,
    Log,
    Requests,
)


@pytest.fixture
def found(tmp_path):
    """Return the requests of two load generators that begin at second 100, measured from 102 to 104."""
    paths = []
    for stream in range(2):
        log = Log()
        log.note(10 + stream, 100.5, 0.5, 0.5 / 2, DONE)  # of the warm-up
        log.note(12 + stream, 102.0, 0.1, 0.1 / 2, DONE)
        log.note(14 + stream, 103.5, 3.0, 3.0 / 2, DONE)  # began while it was measured
        log.note(16 + stream, 103.6, 1.0, 1.0 / 2, TIMEOUT)
        log.note(18 + stream, 104.1, 0.1, 0.1 / 2, SERVER)  # after the end
        paths.append(tmp_path / f"{stream}.npz")
        log.save(paths[-1], [(100.0, 1), (101.1, 2)])
    return Requests.of(paths, 100.0, 102.0, 104.0)


def test_only_what_began_while_it_was_measured_has_figures(found):
    assert found.latencies(successful=True).tolist() == [0.1, 0.1, 3.0, 3.0] and found.seconds == 2
    assert found.latencies(successful=True, served=True).tolist() == [0.05, 0.05, 1.5, 1.5]
    assert {name: count for name, count in found.counts().items() if count} == {"done": 4, "timeout": 2}


def test_a_failed_request_counts_with_the_time_that_its_user_waited(found):
    assert found.latencies().tolist() == [0.1, 0.1, 1.0, 1.0, 3.0, 3.0]
    assert found.latencies(served=True).tolist() == [0.05, 0.05, 0.5, 0.5, 1.5, 1.5]


def test_the_busiest_second_is_of_the_measured_time_and_of_successful_requests(found):
    assert found.busiest_per_s() == 2
    assert found.between(103.5 - 100, 103.7 - 100).busiest_per_s() == pytest.approx(2 / 0.2)
    assert found.between(102.5 - 100, 104.5 - 100).busiest_per_s() == 2  # its seconds begin at 102.5


def test_all_that_was_acknowledged_must_be_there_also_of_the_warm_up(found):
    assert sorted(found.acknowledged().tolist()) == [10, 11, 12, 13, 14, 15]


def test_each_second_has_its_requests_and_users_add_up(found):
    seconds = [(second, took.tolist(), errors) for second, took, errors in found.each_second()]
    assert seconds == [(0, [0.5, 0.5], 0), (1, [], 0), (2, [0.1, 0.1], 0), (3, [1.0, 1.0, 3.0, 3.0], 2)]
    assert found.users == {0: 2, 1: 4}


def test_percentiles_are_values_that_were_seen():
    values = np.arange(1, 1_001) / 1_000
    assert [percentile(values, percent) for percent in (50, 90, 99, 99.9, 100)] == [
        0.5,
        0.9,
        0.99,
        0.999,
        1.0,
    ]
    assert percentile(np.array([0.3]), 50) == 0.3


def test_a_histogram_has_three_digits_and_each_value(found):
    random = np.random.default_rng(1)
    values = np.sort(random.lognormal(-6, 1.5, 100_000))
    seen = histogram(values)
    assert sum(seen.values()) == len(values) and len(seen) < 20_000
    ordered = np.repeat(sorted(seen), [seen[value] for value in sorted(seen)])
    assert np.abs(ordered / values - 1).max() <= 0.005
    assert histogram(np.array([0.0012344, 0.0012336, 9.999, 9.9999])) == {0.00123: 2, 10.0: 2}
