import pytest

from storebench.attempt import disturbance
from storebench.attempt.node import NodeFigures, Strangers

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
    assert judged(node, ALL_UNKNOWN, 0.5)[0] == [], "too short to tell"


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
    assert judged(BUSY, ALL_UNKNOWN, 0.5) == ([], None), "too short to tell"


@pytest.mark.parametrize(
    ("others", "cores", "disturbed"), [(0.9, 2, False), (1.1, 2, True), (1.1, 16, False), (5.0, 16, True)]
)
def test_others_disturb_from_a_core_and_a_quarter_of_the_node_on(others, cores, disturbed):
    assert bool(judged(BUSY, Strangers(others, others), cores=cores)[0]) is disturbed
    assert bool(judged(BUSY, Strangers(0.0, others), cores=cores)[1]) is disturbed


def test_others_on_a_node_with_cpus_to_spare_disturb_nobody():
    assert judged(NodeFigures(node_cpu_some_share=0.05), Strangers(9.0, 9.0)) == ([], None)


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
