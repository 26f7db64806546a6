"""A load that several pods generate together: shares of users and numbers, and the added counts."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from storebench.attempt.parts.part import Part
from storebench.attempt.spec import AttemptSpec
from storebench.errors import SpecError, VerificationFailed
from storebench.stores.point_operations import figures, requests
from storebench.stores.point_operations.arrivals import arrivals
from storebench.stores.point_operations.cassandra import Cassandra
from storebench.stores.point_operations.check import Written, check_table
from storebench.stores.point_operations.entities import entity
from storebench.stores.point_operations.load_plan import Load
from storebench.stores.point_operations.requests import DONE, PERCENTILES, SERVER, TIMEOUT, Requests
from storebench.stores.point_operations.tally import Whole
from tests.unit.stores.point_operations.conftest import LOAD, SEED

ROWS, COUNT, PODS = 1_000, 60_000, 4
FROM_S, TO_S, END_S = 2.0, 8.0, 9.0
STEPS = [(2.0, 5.0), (5.0, 8.0)]


@pytest.fixture(scope="module")
def raw():
    """Return a raw log of all requests, as columns."""
    random = np.random.default_rng(5)
    writes = random.random(COUNT) < 0.5
    number = random.integers(ROWS, size=COUNT)
    number[writes] = ROWS + np.arange(writes.sum())
    outcome = random.choice([DONE, TIMEOUT, SERVER], size=COUNT, p=[0.98, 0.015, 0.005])
    latency_s = random.lognormal(-6, 1.5, COUNT)
    return {
        "number": number,
        "began_s": random.uniform(0, END_S, COUNT),
        "latency_s": latency_s,
        "served_s": latency_s * random.uniform(0.5, 1, COUNT),
        "outcome": outcome,
    }


def sent(raw, chosen, users):
    """Return the chosen requests of the raw log."""
    columns = {name: column[chosen] for name, column in raw.items()}
    return Requests(
        **columns, measured_from_s=FROM_S, measured_to_s=TO_S, users=dict.fromkeys(range(9), users)
    )


@pytest.fixture(scope="module")
def whole(raw):
    """Return the requests of the raw log, and the added counts of parts of very different sizes."""
    part = np.random.default_rng(6).choice(PODS, size=COUNT, p=[0.7, 0.2, 0.09, 0.01])
    parts = [
        Whole.of(sent(raw, part == one, one + 1), ROWS, STEPS, writes=True).text() for one in range(PODS)
    ]
    everything = Whole.of(sent(raw, np.ones(COUNT, bool), 10), ROWS, STEPS, writes=True)
    return everything, Whole.merged(parts)


class Noted:
    """The figures that were reported."""

    def __init__(self):
        self.metrics, self.histograms, self.all_series = {}, {}, {}

    def metric(self, name, value):
        self.metrics[name] = value

    def histogram(self, name, counts):
        self.histograms[name] = counts

    def series(self, name, points):
        self.all_series[name] = list(points)


def reported(one):
    noted = Noted()
    figures.report(noted, one.measured, COUNT)
    figures.report_mix(noted, one.reads, one.writes)
    steps = [type("Step", (), {"from_s": from_s, "rate": 1.0}) for from_s, _ in STEPS]
    figures.report_steps(noted, steps, one.steps)
    return noted


def test_counts_and_histograms_of_all_pods_are_those_of_the_raw_log(whole):
    exact, added = map(reported, whole)
    assert added.histograms == exact.histograms and len(added.histograms) == 6
    rounded = [name for name in exact.metrics if any(name.endswith(end) for end in PERCENTILES)]
    assert len(rounded) == 4 * 6 + 4
    for name, value in exact.metrics.items():
        assert added.metrics[name] == pytest.approx(value, rel=0.005 if name in rounded else 1e-12), name
    for name, points in exact.all_series.items():
        assert [at for at, _ in added.all_series[name]] == [at for at, _ in points]
        assert [value for _, value in added.all_series[name]] == pytest.approx(
            [value for _, value in points], rel=0.005
        )
    for name in ("each_second_operations_per_s", "each_second_errors", "each_second_users"):
        assert added.all_series[name] == exact.all_series[name]


def test_a_percentile_of_all_pods_is_not_the_mean_of_their_percentiles(raw):
    """One pod of two has all slow requests: its percentiles, averaged with those of the other, are of no request."""
    slow = raw["latency_s"] > np.median(raw["latency_s"])
    parts = [Whole.of(sent(raw, mask, 1), ROWS, [], writes=False) for mask in (slow, ~slow)]
    added = Whole.merged(part.text() for part in parts).measured.distribution()
    exact = sent(raw, np.ones(COUNT, bool), 1).distribution()
    mean = sum(part.measured.distribution().percentile(99) for part in parts) / 2
    assert added.percentile(99) == pytest.approx(exact.percentile(99), rel=0.005)
    assert mean < 0.8 * exact.percentile(99)


def test_the_whole_table_is_compared_with_the_writes_of_all_pods(whole):
    exact, added = (one.written for one in whole)
    assert (added.must == exact.must).all() and (added.may == exact.may).all()
    assert ROWS < added.must.sum() < added.may.sum() == len(added.may)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_write_that_is_lost_is_found_whichever_pod_has_written_it(lost):
    found = [Written(*2 * [np.arange(30) % 2 == one]) for one in range(2)]
    added = Written.merged([one.packed() for one in found])
    table = [entity(SEED, number) for number in range(30)]
    assert check_table(table, SEED, added).startswith("30 acknowledged entities")
    with pytest.raises(VerificationFailed, match="1 of 30 acknowledged entities are not in the table"):
        check_table([*table[:lost], *table[lost + 1 :]], SEED, added)
    with pytest.raises(VerificationFailed, match="which nobody has written"):
        check_table([*table, entity(SEED, 31)], SEED, added)


def test_a_wrong_read_of_any_pod_is_found(raw):
    wrong = {**raw, "outcome": raw["outcome"].copy(), "number": raw["number"] % ROWS}
    wrong["outcome"][7] = requests.WRONG
    parts = [
        Whole.of(sent(wrong, np.arange(COUNT) % 3 == one, 1), ROWS, [], writes=False) for one in range(3)
    ]
    with pytest.raises(VerificationFailed, match="0 found nothing and 1 found other fields"):
        figures.check_reads(Whole.merged(part.text() for part in parts).reads)
    assert Whole.merged(part.text() for part in parts).written is None


def jobs(pods, processes, **values):
    """Return the jobs of the load generators of all pods."""
    asked = {**LOAD, **values, "pods": str(pods), "load_processes": str(processes), "users": "11"}
    load = Load.of(asked)
    store = Cassandra(client="direct", target="t", connection=None, values=asked, operation="write")
    spec = AttemptSpec(
        *("write", "", "point_operations", "cassandra", "direct", {}, 300, SEED, "t", "b", None, "r")
    )
    return [list(store.jobs(spec, load, Path(), Part(number, pods))) for number in range(pods)]


def test_pods_share_users_and_have_streams_of_their_own():
    found = jobs(3, 2)
    assert [[job["users"] for job in part] for part in found] == [[2, 2], [2, 2], [2, 1]]
    assert [job["stream"] for part in found for job in part] == list(range(6))
    assert {job["streams"] for part in found for job in part} == {6}
    assert sum(job["spawn_rate"] for part in found for job in part) == pytest.approx(8)


def test_the_schedule_of_several_pods_is_that_of_one():
    def schedule(pods, processes):
        generators = chain.from_iterable(jobs(pods, processes, load="open"))
        return sorted(
            chain.from_iterable(
                arrivals(job["schedule"], job["stream"], job["streams"]) for job in generators
            )
        )

    assert schedule(3, 2) == schedule(1, 1) and len(schedule(1, 1)) > 400


def test_one_pod_is_the_default_and_pods_without_users_are_refused():
    assert Load.of(LOAD).pods == 1 and Load.of(LOAD).shares() == [4]
    with pytest.raises(
        SpecError, match="4 users cannot be divided among 2 load generators in each of 3 pods"
    ):
        Cassandra.least_s("read", {**LOAD, "pods": "3", "load_processes": "2"})
