import pytest

from storebench.attempt import disturbance
from storebench.attempt.node import NodeFigures

QUIET = NodeFigures(0.1, 0.0, 0.0, 0.3, 0.2, 0.0, 0.1)
BUSY = NodeFigures(node_cpu_some_share=0.9, node_others_cores=1.6)


@pytest.mark.parametrize("alone", [True, False])
def test_a_quiet_node_and_one_that_tells_nothing_disturb_nobody(alone):
    assert disturbance.of_node(QUIET, 10, cores=2, alone=alone) == []
    assert disturbance.of_node(NodeFigures(), 10, cores=2, alone=alone) == []


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (NodeFigures(node_steal_share=0.06), "6% of the node's CPU time was stolen"),
        (NodeFigures(node_memory_full_share=0.02), "all tasks on the node waited for memory 2% of the time"),
    ],
)
def test_stolen_time_and_want_of_memory_disturb_every_store(node, reason):
    assert disturbance.of_node(node, 10, cores=2, alone=False) == [reason]
    assert disturbance.of_node(node, 0.5, cores=2, alone=False) == [], "too short to tell"


def test_the_cpu_of_others_disturbs_only_where_none_of_them_can_be_the_stores_own():
    assert disturbance.of_node(BUSY, 10, cores=2, alone=False) == []
    (reason,) = disturbance.of_node(BUSY, 10, cores=2, alone=True)
    assert reason == "others kept 1.6 cores busy, and tasks waited for a CPU 90% of the time"


@pytest.mark.parametrize(
    ("others", "cores", "disturbed"), [(0.9, 2, False), (1.1, 2, True), (1.1, 16, False), (5.0, 16, True)]
)
def test_others_disturb_from_a_core_and_a_quarter_of_the_node_on(others, cores, disturbed):
    node = NodeFigures(node_cpu_some_share=0.9, node_others_cores=others)
    assert bool(disturbance.of_node(node, 10, cores=cores, alone=True)) is disturbed


def test_others_on_a_node_with_cpus_to_spare_disturb_nobody():
    assert (
        disturbance.of_node(
            NodeFigures(node_cpu_some_share=0.05, node_others_cores=9), 10, cores=2, alone=True
        )
        == []
    )


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
