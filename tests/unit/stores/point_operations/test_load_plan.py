"""The load that a run requests, and the planned starts of its requests."""

import heapq
import itertools

import pytest

from storebench.errors import SpecError
from storebench.stores.point_operations.arrivals import arrivals, request_count
from storebench.stores.point_operations.cassandra import Cassandra
from storebench.stores.point_operations.load_plan import PARAMS, Load, Step
from storebench.stores.point_operations.ramp import Climb, Tried
from tests.unit.stores.point_operations.conftest import LOAD


@pytest.mark.parametrize(
    ("asks", "says"),
    [
        ({"duration_s": "0.2"}, "shorter than its warm-up"),
        ({"spawn_rate": "1e-09"}, "ask for fewer users, or for a larger spawn_rate"),
        ({"spawn_rate": "5e-324"}, "lasts inf s, and an attempt may last 86,400 s at most"),
        ({"load_processes": "5"}, "cannot be divided among 5 load generators"),
        ({"load": "half-open"}, "half-open"),
        ({"load": "ramp", "rate_factor": "1.0"}, "needs a rate_factor above 1"),
        ({"load": "ramp", "slo_ms": "2001"}, "longer than a step of 2 s"),
        ({"load": "ramp", "first_rate": "49"}, "has 98 requests"),
        ({"load": "ramp", "rate_factor": "1.01"}, "more than 100 steps up to 100,000"),
        ({"load": "capacity", "rate_factor": "1.0"}, "needs a rate_factor above 1"),
        ({"load": "capacity", "slo_ms": "2001"}, "and a step lasts 10 s at most"),
        ({"load": "ramp", "fault": "kill"}, "ask for load=closed or load=open"),
        (
            {"load": "capacity", "fault": "kill", "longest_step_s": "60"},
            "the fault 'kill' would be taken for the limit",
        ),
        ({"fault": "kill", "duration_s": "15.9"}, "ask for a duration_s of at least 16"),
        ({"fault": "kill", "fault_for_s": "0"}, "Duration of the fault"),
        ({"load": "capacity", "first_rate": "49"}, "requests that a step needs last 11.6 s"),
    ],
)
def test_a_load_that_contradicts_itself_is_refused(asks, says):
    with pytest.raises(SpecError, match=says):
        Load.of({**LOAD, **asks})


def test_a_fault_may_make_all_requests_fail():
    load = Load.of({**LOAD, "fault": "kill", "duration_s": "16"})
    assert load.fault.name == "kill" and load.most_errors == 1
    assert Load.of(LOAD).most_errors == 0.01


def test_the_defaults_of_a_ramp_are_one():
    load = Load.of({"load": "ramp", **{name: str(one.default) for name, one in PARAMS.items()}})
    assert load.rates[0] == 100 and load.rates[-1] > 75_000 and len(load.rates) == 31
    assert load.longest_s > load.steps[-1].to_s + load.slo_s


def test_the_defaults_of_a_search_are_one():
    load = Load.of({"load": "capacity", **{name: str(one.default) for name, one in PARAMS.items()}})
    assert load.stepped and load.schedule == [(100, load.before_s)] and load.slo_s == 0.05


@pytest.mark.parametrize(
    ("load", "seconds"), [("closed", 10.0), ("open", 10.0), ("ramp", 3.0), ("capacity", 1 + 568 / 50)]
)
def test_reads_and_writes_last_as_long_as_their_load_and_a_load_by_steps_at_least_a_step(load, seconds):
    values = {**LOAD, "load": load, "duration_s": "9", "longest_step_s": "20"}
    found = {operation: Cassandra.least_s(operation, values) for operation in Cassandra.operations}
    assert found == {"fill": 0.0, "read": seconds, "write": seconds}


def test_users_are_divided_among_load_generators():
    assert Load.of({**LOAD, "users": "11", "load_processes": "3"}).shares() == [4, 4, 3]


def test_a_closed_load_has_no_schedule_and_an_open_one_has_one_rate():
    assert list(arrivals(Load.of(LOAD).schedule, 0, 1)) == []
    found = list(arrivals(Load.of({**LOAD, "load": "open"}).schedule, 0, 1))
    assert found == [(0, number / 200) for number in range(600)]  # 3 s, with the warm-up


def test_a_ramp_rises_by_its_factor_after_a_warm_up_at_its_first_rate():
    load = Load.of({**LOAD, "load": "ramp", "duration_s": "0.1"})  # a duration is not asked for
    found = list(itertools.takewhile(lambda one: one[0] < 4, arrivals(load.schedule, 0, 1)))
    counts = [sum(part == one for part, _ in found) for one in range(4)]
    assert (
        counts
        == [50, 100, 150, 225]
        == [request_count(50, 1), *(step.request_count for step in load.steps[:3])]
    )
    assert [step.from_s for step in load.steps[:3]] == [1, 3, 5] and load.steps[0].to_s == 3
    for part, at_s in found[50:]:
        step = load.steps[part - 1]
        assert step.from_s <= at_s < step.to_s


def test_several_load_generators_keep_the_distances_together():
    schedule = [(7.0, 1.5), (30.0, 2.0), (11.0, 1.1)]
    parts = [list(arrivals(schedule, stream, 3)) for stream in range(3)]
    assert list(heapq.merge(*parts)) == list(arrivals(schedule, 0, 1))
    assert {len(part) for part in parts} == {28}  # of 11, 60 and 13 requests


def test_a_step_holds_as_long_as_99_of_100_are_in_time():
    step = Step(100.0, 0.0, 2.0)
    assert step.request_count == 200 and step.holds(198) and not step.holds(197)


def test_a_ramp_that_nothing_breaks_is_no_result():
    steps = [Step(50_000.0, 0.0, 1.0), Step(100_000.0, 1.0, 2.0)]
    climb = Climb([Tried(step, step.request_count, 1.0) for step in steps], 0.05)
    assert climb.broken is None and climb.counts == steps[1]
    assert "No rate up to 100,000 a second broke the limit of 50 ms" in climb.problem()


@pytest.mark.parametrize(("given", "found"), [(0, "0"), ("0", "0"), (0.5, "0.5"), ("0.95", "0.95")])
def test_a_share_of_reads_is_below_1(given, found):
    assert PARAMS["read_share"].read(given) == found


@pytest.mark.parametrize("given", [1, "1.5", -0.5, "half", "0.", 0.0])
def test_what_is_no_share_of_reads_is_refused(given):
    with pytest.raises(SpecError, match="is not 0, or a share below 1, such as"):
        PARAMS["read_share"].read(given)
