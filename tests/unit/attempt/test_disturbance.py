import pytest

from storebench.attempt import disturbance
from storebench.attempt.node import Strangers
from storebench.protocol.figures import NodeFigures

QUIET = NodeFigures(0.1, 0.0, 0.0, 0.3, 0.2, 0.0, 0.1)
BUSY = NodeFigures(node_cpu_some_share=0.9)
NOBODY, ALL_UNKNOWN = Strangers(0.0, 0.0), Strangers(0.0, 1.6)


def judged(node, strangers, wall_s=10.0, cores=2):
    """Return the disturbances of an attempt, and the possible disturbances."""
    return (
        disturbance.of_node(node, strangers, wall_s, cores=cores),
        disturbance.perhaps_of_node(node, strangers, wall_s, cores=cores),
    )


@pytest.mark.parametrize("strangers", [NOBODY, ALL_UNKNOWN, Strangers(1.6, 1.6), None])
def test_a_quiet_node_and_one_that_tells_nothing_disturb_nobody(strangers):
    assert judged(QUIET, strangers) == ([], None)
    assert judged(NodeFigures(), strangers) == ([], None)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (NodeFigures(node_steal_share=0.06), "6% of the node's CPU time was stolen"),
        (NodeFigures(node_memory_full_share=0.02), "all tasks on the node waited for memory 2% of the time"),
    ],
)
def test_stolen_time_and_want_of_memory_disturb_every_store(node, reason):
    assert judged(node, ALL_UNKNOWN)[0] == [reason]
    assert judged(node, ALL_UNKNOWN, 0.09)[0] == [], "too short to tell"


def test_work_disturbs_if_it_was_a_strangers_and_perhaps_if_that_is_not_known():
    reason = "others kept 1.6 cores busy, and tasks waited for a CPU 90% of the time"
    assert judged(BUSY, Strangers(1.6, 1.6)) == ([reason], None)
    assert judged(BUSY, Strangers(1.6, 1.9)) == ([reason], None)
    assert judged(BUSY, NOBODY) == ([], None), "it was the store's own"
    none, perhaps = judged(BUSY, ALL_UNKNOWN)
    assert none == []
    assert perhaps == (
        "it is not known how much of 1.6 busy cores beside the pod was the store's own work, and tasks waited for a CPU 90% of the time"
    )
    assert judged(BUSY, ALL_UNKNOWN, 0.09) == ([], None), "too short to tell"


def test_an_operation_of_a_tenth_of_a_second_is_judged_and_a_few_stolen_ticks_are_none():
    assert judged(BUSY, Strangers(1.6, 1.6), 0.1)[0] != []
    stolen = NodeFigures(node_steal_share=0.06)
    assert judged(stolen, NOBODY, 0.2)[0] == [], "24 ms of two cores"
    assert judged(stolen, NOBODY, 0.3)[0] == ["6% of the node's CPU time was stolen"], "36 ms"


@pytest.mark.parametrize(
    ("node", "strangers", "wall_s", "reason"),
    [
        (QUIET, NOBODY, 0.1, None),
        (QUIET, ALL_UNKNOWN, 10.0, None),
        (QUIET, NOBODY, 0.0254, "it took 25.4 ms, and the kernel counts CPU time in steps of 10 ms"),
        (NodeFigures(), NOBODY, 10.0, "does not report how long tasks waited for a CPU"),
        (QUIET, None, 10.0, "does not report how busy its CPUs were"),
    ],
)
def test_why_an_operation_is_not_judged(node, strangers, wall_s, reason):
    found = disturbance.why_not_judged(node, strangers, wall_s)
    assert found is None if reason is None else reason in found


@pytest.mark.parametrize(
    ("others", "cores", "disturbed"), [(0.8, 2, False), (1.0, 2, True), (1.1, 16, False), (5.0, 16, True)]
)
def test_others_disturb_from_a_core_and_a_quarter_of_the_node_on(others, cores, disturbed):
    assert bool(judged(BUSY, Strangers(others, others), cores=cores)[0]) is disturbed
    assert bool(judged(BUSY, Strangers(0.0, others), cores=cores)[1]) is disturbed


def test_others_on_a_node_with_cpus_to_spare_disturb_nobody():
    assert judged(NodeFigures(node_cpu_some_share=0.05), Strangers(9.0, 9.0)) == ([], None)


def test_others_disturb_without_a_wait_where_more_than_half_of_the_cpus_are_busy():
    """Two CPUs may be threads of one core."""
    node = NodeFigures(node_cpu_some_share=0.04)
    reason = "others kept 1.0 cores busy, and all work together 2.0 of the node's 2"
    assert judged(node, Strangers(1.04, 1.04, 2.0), 0.3)[0] == [reason]
    assert judged(node, Strangers(0.0, 1.04, 2.0), 0.3)[1].endswith(
        "and all work together 2.0 of the node's 2"
    )
    assert judged(node, Strangers(1.04, 1.04, 1.0), 0.3) == ([], None)
    assert judged(node, Strangers(5.0, 5.0, 6.0), cores=16) == ([], None)
    assert judged(node, Strangers(5.0, 5.0, 9.0), cores=16)[0] != []


def test_throttling_disturbs_unless_the_run_asked_for_the_limit():
    assert disturbance.of_throttling(3, asked_for=False) == ["throttled in 3 periods"]
    assert disturbance.of_throttling(3, asked_for=True) == []
    assert disturbance.of_throttling(0, asked_for=False) == []


@pytest.mark.parametrize(
    ("before", "after", "restarted"),
    [
        ({"a": 10.0}, {"a": 10.9}, False),
        ({"a": 10.0}, {"a": 70.0}, True),
        ({"a": 0.0}, {"b": 0.0}, True),
        ({"a": 1.0, "b": 1.0}, {"a": 1.0}, True),
        ({}, {"a": 1.0}, False),
        ({"a": 1.0}, {}, False),
    ],
)
def test_a_server_that_was_restarted_is_noticed_where_it_can_be_seen(before, after, restarted):
    assert bool(disturbance.of_server(before, after)) is restarted
