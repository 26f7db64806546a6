"""The figures of a load under a fault, exact on synthetic logs of requests."""

import numpy as np
import pytest

from storebench.attempt.fault import Happened
from storebench.stores.point_operations.fault_figures import UnderFault, report
from storebench.stores.point_operations.requests import CONNECTION, DONE, Requests

FROM_S, TO_S = 2.0, 32.0
FAULT = Happened("mongodb-0", 10.0, 13.0, 0.002)


def log(*parts):
    """Return a log. A part is (first second, last second, requests per second, latency, outcome)."""
    began, latency, outcome = [], [], []
    for from_s, to_s, rate, latency_s, kind in parts:
        count = round((to_s - from_s) * rate)
        began.append(from_s + np.arange(count) / rate)
        latency.append(np.full(count, latency_s))
        outcome.append(np.full(count, kind))
    began, latency, outcome = map(np.concatenate, (began, latency, outcome))
    numbers = np.arange(len(began))
    return Requests(numbers, began, latency, latency, outcome, 9.0, TO_S, {})


def under(*parts, fault=FAULT):
    return UnderFault(log(*parts), fault, FROM_S)


STEADY = (0, 10, 100, 0.005, DONE)
DOWN = (10, 13, 100, 0.001, CONNECTION)


def test_the_longest_stretch_without_a_success_is_from_success_to_success():
    found = under(STEADY, DOWN, (13, TO_S, 100, 0.005, DONE))
    longest_s, sum_s = found.unavailable_s()
    assert longest_s == pytest.approx(3.01) and sum_s == pytest.approx(3.01)  # from 9.995 to 13.005


def test_all_long_stretches_are_added_and_short_ones_are_not():
    found = under(
        STEADY,
        DOWN,
        (13, 20, 100, 0.005, DONE),
        (21.5, 25, 100, 0.005, DONE),
        (25.05, TO_S, 100, 0.005, DONE),
    )
    longest_s, sum_s = found.unavailable_s()
    assert longest_s == pytest.approx(3.01)
    assert sum_s == pytest.approx(3.01 + 1.51)  # a stretch of 0.06 s does not count


def test_a_stretch_as_before_the_fault_is_not_unavailability():
    found = under((0, TO_S, 1, 0.005, DONE), (20.5, 21, 2, 0.005, DONE))
    assert found.unavailable_s() == (pytest.approx(1.0), 0)


def test_a_server_that_does_not_come_back_is_unavailable_until_the_load_ends():
    found = under(STEADY, (10, TO_S, 100, 0.001, CONNECTION))
    assert found.unavailable_s()[0] == pytest.approx(TO_S - 9.995)
    assert found.recover_s() is None
    assert "No request succeeded after mongodb-0 answered again, 3.0 s after" in found.problem()


def test_a_load_without_an_effect_has_recovered_at_once():
    found = under((0, TO_S, 100, 0.005, DONE))
    assert found.recover_s() == 0 and found.problem() is None


def test_the_rate_must_be_back_for_a_whole_stretch():
    """Half of the rate until 18 s: a stretch may have 10 % less, which is one of its five seconds at half of the rate."""
    found = under(STEADY, DOWN, (13, 18, 50, 0.005, DONE), (18, TO_S, 100, 0.005, DONE))
    assert found.recover_s() == pytest.approx(18 - 1 - 10, abs=0.11)


def test_the_latency_must_be_back_too():
    found = under(STEADY, DOWN, (13, 20, 100, 0.006, DONE), (20, TO_S, 100, 0.0055, DONE))
    # at most 1 % of the 500 requests of a stretch may be slower: the last 5 slow ones end before 20.006 s
    assert found.recover_s() == pytest.approx(10, abs=0.11)


def test_the_latency_is_compared_with_the_worst_stretch_before():
    found = under((0, 4, 100, 0.01, DONE), (4, 10, 100, 0.005, DONE), DOWN, (13, TO_S, 100, 0.01, DONE))
    assert found.recover_s() == pytest.approx(3.1)  # the first tenth of a second after the standstill


def test_a_stretch_with_a_standstill_has_not_recovered_whatever_its_rate():
    """The load catches up after the standstill: a stretch with two seconds of it has the rate of before."""
    found = under(STEADY, DOWN, (13, 18, 200, 0.005, DONE), (18, TO_S, 100, 0.005, DONE))
    assert found.recover_s() == pytest.approx(3.1)


def test_a_server_that_ends_slowly_has_not_recovered_before_its_end():
    """The server has an orderly end of six seconds, in which it still answers, and is down for three."""
    slow = Happened("mongodb-0", 10.0, 19.0, 0.002)
    found = under((0, 16, 100, 0.005, DONE), (19, TO_S, 100, 0.005, DONE), fault=slow)
    assert found.recover_s() == pytest.approx(9.1)


def test_a_load_that_other_servers_carry_recovers_before_the_server_is_back():
    back = Happened("cassandra-1", 10.0, 24.0, 0.002)
    found = under(STEADY, (11, TO_S, 100, 0.005, DONE), fault=back)
    assert found.recover_s() == pytest.approx(1.1)


def test_a_load_that_ends_too_early_has_not_recovered():
    found = under(STEADY, DOWN, (13, 29, 50, 0.005, DONE), (29, TO_S, 100, 0.005, DONE))
    assert found.recover_s() is None  # two of its last five seconds have half of the rate


def test_requests_are_before_during_or_after_the_fault_by_begin_and_end():
    hung = (9.9, 9.91, 100, 4.0, DONE)  # began before the fault, and ended after it
    found = under((0, 9.5, 100, 0.005, DONE), hung, DOWN, (13, TO_S, 100, 0.007, DONE))
    assert found.p99s() == {"before": 0.005, "during": 0.001, "after": 0.007}
    found = under((0, 9.5, 100, 0.005, DONE), hung, (13, TO_S, 100, 0.007, DONE))
    assert found.p99s() == {"before": 0.005, "during": 4.0, "after": 0.007}


class Recorder:
    def __init__(self):
        self.metrics = {}

    def metric(self, name, value):
        self.metrics[name] = value


def test_the_figures_of_a_fault_are_recorded_and_a_load_that_has_not_recovered_is_said():
    recorder = Recorder()
    said = report(recorder, under(STEADY, DOWN, (13, TO_S, 50, 0.005, DONE)))
    assert set(recorder.metrics) == {
        *("fault_from_s", "fault_to_s", "fault_skew_s", "unavailable_s", "unavailable_sum_s"),
        *("p99_before_s", "p99_during_s", "p99_after_s"),
    }
    assert (recorder.metrics["fault_from_s"], recorder.metrics["fault_to_s"]) == (10, 13)
    assert said == (
        "mongodb-0 answered again 3.0 s after the fault began, and the load had not recovered when the load ended, 22.0 s after the fault"
        " began"
    )
    said = report(recorder, under((0, TO_S, 100, 0.005, DONE)))
    assert recorder.metrics["recover_s"] == 0 and said.endswith("had recovered 0.0 s after the fault began")
