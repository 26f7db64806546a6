"""Real neighbours on this machine, beside an operation of a fraction of a second."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from storebench.attempt import disturbance
from storebench.attempt.node import PROC, NodeCounters, figures, strangers
from storebench.attempt.usage import boot_id

SPIN = "while True: pass"
WALL_S = 0.3


@contextmanager
def neighbours(number):
    """Run processes that keep a core busy each."""
    busy = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(number)]
    try:
        time.sleep(0.5)  # they have started
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


def work():
    """Return the figures of an operation that lasts WALL_S: disturbances, and the reason if it cannot be judged."""
    before = NodeCounters.read(time.process_time(), {})
    while time.perf_counter() - before.at_s < WALL_S:
        pass
    after = NodeCounters.read(time.process_time(), {})
    node, others, wall_s = (
        figures(before, after),
        strangers(before, after, boot_id()),
        after.at_s - before.at_s,
    )
    cores = os.cpu_count() or 1
    return (
        disturbance.of_node(node, others, wall_s, cores=cores),
        disturbance.why_not_judged(node, others, wall_s),
    )


needs_pressure = pytest.mark.skipif(
    not (PROC / "pressure" / "cpu").exists(), reason="this kernel does not tell pressure"
)


@needs_pressure
@pytest.mark.parametrize("each", [0.5, 2], ids=["one for two CPUs, which is no wait", "two for each CPU"])
def test_neighbours_disturb_an_operation_of_less_than_a_second(each):
    with neighbours(round(each * (os.cpu_count() or 1))):
        found, not_judged = work()
    assert any(reason.startswith("others kept ") for reason in found)
    assert not_judged is None
