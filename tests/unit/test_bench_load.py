"""Detection of wrongly counted latencies by the raw log of requests."""

import numpy as np
import pytest

from bench.load import errors
from storebench.stores.point_operations.requests import Requests

RATE, ZERO_S, TOOK_S = 100.0, 50.0, 0.002


def logged(took_from):
    """Two seconds of requests. The server stops in the last tenth of a second before 1.5: what was to begin then begins as it ends.
    Their latency counts from `took_from`: of the times at which each was to begin, and those at which it has begun."""
    meant_s = np.arange(200) / RATE
    began_s = np.where((meant_s >= 1.4) & (meant_s < 1.5), 1.5, meant_s)
    ended_s = began_s + TOOK_S
    zeros = np.zeros(200, dtype=np.int64)
    found = Requests(
        number=zeros,
        began_s=meant_s,
        latency_s=ended_s - took_from(meant_s, began_s),
        served_s=ended_s - began_s,
        outcome=zeros,
        measured_from_s=1.0,
        measured_to_s=2.0,
        users={},
    )
    shuffled = np.random.default_rng(1).permutation(200)  # requests end, and are noted, in any order
    return found, np.array([began_s + ZERO_S, ended_s + ZERO_S])[:, shuffled]


def test_latencies_from_the_intended_start_are_those_of_the_raw_log():
    sides = errors(*logged(lambda meant_s, began_s: meant_s), RATE, ZERO_S)
    for of_load, of_histogram, raw in sides.values():
        assert of_load == pytest.approx(raw) and of_histogram == pytest.approx(raw, rel=0.005)
    assert sides["p50_s"][2] == pytest.approx(TOOK_S) and sides["p100_s"][2] == pytest.approx(0.1 + TOOK_S)


def test_latencies_from_the_real_start_hide_the_stall_and_are_told():
    sides = errors(*logged(lambda meant_s, began_s: began_s), RATE, ZERO_S)
    of_load, of_histogram, raw = sides["p100_s"]
    assert of_load == pytest.approx(TOOK_S) == of_histogram and raw > 40 * of_load
