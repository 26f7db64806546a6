from dataclasses import replace

import pytest

from storebench.attempt.node import NodeCounters, Strangers, figures, strangers
from storebench.protocol.figures import NodeFigures

PRESSURE = "some avg10=1.00 avg60=0.00 avg300=0.00 total={some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"


def counters(proc, at_s, own_cpu_s, some, full, stat):
    (proc / "pressure").mkdir(exist_ok=True)
    for resource in ("cpu", "memory", "io"):
        (proc / "pressure" / resource).write_text(PRESSURE.format(some=some, full=full))
    (proc / "stat").write_text(f"cpu  {stat} 0 0\ncpu0 1 2 3\n")
    found = NodeCounters.read(own_cpu_s, proc=proc)
    return NodeCounters(at_s, found.stalled_s, found.cpu_s, found.own_cpu_s)


def test_figures_are_what_the_counters_grew_by_over_the_time_between(tmp_path):
    before = counters(tmp_path, 100.0, 5.0, 1_000_000, 0, "100 0 100 1000 50 0 0 7")
    # In 10 s of two CPUs: 1,500 ticks busy, 400 idle, 100 stolen. Six seconds of the busy ones are the pod's own.
    after = counters(tmp_path, 110.0, 11.0, 6_000_000, 200_000, "1000 100 500 1400 50 50 50 107")
    assert figures(before, after) == NodeFigures(
        node_cpu_some_share=0.5,
        node_memory_some_share=0.5,
        node_memory_full_share=0.02,
        node_io_some_share=0.5,
        node_io_full_share=0.02,
        node_steal_share=0.05,
        node_others_cores=0.9,
    )


def test_what_the_kernel_does_not_tell_is_none_and_no_error(tmp_path):
    nothing = NodeCounters.read(1.0, proc=tmp_path)
    assert figures(nothing, NodeCounters(nothing.at_s + 1, {}, {}, 2.0)) == NodeFigures()
    (tmp_path / "stat").write_text("cpu 1 2 3\n")
    assert NodeCounters.read(1.0, proc=tmp_path).cpu_s == {}
    assert strangers(nothing, NodeCounters(nothing.at_s + 1, {}, {}, 2.0), "here") is None


def test_this_machine_can_be_read():
    found = figures(NodeCounters.read(0.0), NodeCounters.read(0.0))
    assert all(value is None or value >= 0 for value in vars(found).values())


def test_no_time_between_gives_no_figures(tmp_path):
    now = counters(tmp_path, 1.0, 1.0, 1, 1, "1 1 1 1 1 1 1 1")
    assert figures(now, now) == NodeFigures()


@pytest.mark.parametrize("own_cpu_s", [9.0, 50.0])
def test_nobody_else_is_busy_less_than_not_at_all(tmp_path, own_cpu_s):
    before = counters(tmp_path, 0.0, 0.0, 0, 0, "0 0 0 0 0 0 0 0")
    after = counters(tmp_path, 10.0, own_cpu_s, 0, 0, "900 0 0 100 0 0 0 0")
    assert figures(before, after).node_others_cores == 0


def test_a_share_is_never_more_than_all_however_the_moments_of_reading_differ(tmp_path):
    before = counters(tmp_path, 0.0, 0.0, 0, 0, "0 0 0 0 0 0 0 0")
    after = counters(tmp_path, 10.0, 0.0, 10_050_000, 0, "0 0 0 2000 0 0 0 0")
    assert figures(before, after).node_cpu_some_share == 1.0


@pytest.mark.parametrize(
    ("before_s", "after_s", "least", "most"),
    [
        ({}, {}, 0.9, 0.9),  # nothing works for the store but the pod
        ({"here": 5.0}, {"here": 11.0}, 0.3, 0.3),
        ({"there": 5.0}, {"there": 11.0}, 0.9, 0.9),
        ({"here": 1.0, "there": 1.0}, {"here": 3.0, "there": 9.0}, 0.7, 0.7),
        ({}, {"here": 2.0}, 0.7, 0.7),  # it was started meanwhile
        ({"here": 9.0}, {"here": 1.0}, 0.9, 0.9),  # it was started anew
        ({"": 5.0}, {"": 11.0}, 0.3, 0.9),  # on which machine it was is not told
        ({"here": 0.0}, {"here": 99.0}, 0.0, 0.0),
        (None, {"here": 1.0}, 0.0, 0.9),
        ({"here": 1.0}, None, 0.0, 0.9),
    ],
)
def test_the_stores_own_work_on_this_node_is_no_strangers(tmp_path, before_s, after_s, least, most):
    before = counters(tmp_path, 100.0, 5.0, 0, 0, "100 0 100 1000 50 0 0 7")
    after = counters(tmp_path, 110.0, 11.0, 0, 0, "1000 100 500 1400 50 50 50 107")
    before, after = replace(before, store_cpu_s=before_s), replace(after, store_cpu_s=after_s)
    found = strangers(before, after, "here")
    assert found == Strangers(pytest.approx(least), pytest.approx(most))
    assert found.busy == pytest.approx(1.5), "six seconds of the pod's own, and nine of others"


@pytest.mark.parametrize(
    ("store_s", "parts_s", "least", "most"),
    [
        ({}, {}, 0.9, 0.9),
        ({}, {"here": 6.0}, 0.3, 0.3),
        ({}, {"there": 6.0}, 0.9, 0.9),
        ({}, {"": 6.0}, 0.3, 0.9),  # a part does not know its machine
        ({"here": 2.0}, {"here": 6.0}, 0.1, 0.1),
        (None, {"here": 6.0}, 0.0, 0.3),  # the store's own work is unknown, the parts' is not
        ({}, {"here": 99.0}, 0.0, 0.0),
    ],
)
def test_other_parts_of_the_operation_are_no_strangers(tmp_path, store_s, parts_s, least, most):
    before = counters(tmp_path, 100.0, 5.0, 0, 0, "100 0 100 1000 50 0 0 7")
    after = counters(tmp_path, 110.0, 11.0, 0, 0, "1000 100 500 1400 50 50 50 107")
    before, after = replace(before, store_cpu_s={}), replace(after, store_cpu_s=store_s)
    found = strangers(before, after, "here", parts_s)
    assert found == Strangers(pytest.approx(least), pytest.approx(most))
    assert figures(before, after).node_others_cores == pytest.approx(0.9), "others include the parts"
