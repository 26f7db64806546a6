"""Compare this machine with the usual machine, whose typical times the stores declare (storebench.stores.base.TypicalTime).

The machine that plans a run is measured. In a cluster, its pods may run on other machines.
"""

from __future__ import annotations

import time
from functools import cache

LOOPS = 2_000  # short: among many loops, the fastest had the core to itself, even beside other programs
# The CPU seconds of `_loop` on the usual machine: 2 cores of an Intel Xeon at 2.1 GHz (a virtual machine with 24 GB of memory), Python 3.11.
# The typical times of all stores are medians of the runs of this machine's embedded stack, while other programs ran beside them.
USUAL_S = 0.000136
LASTS_S = 0.5  # the time of the calibration
MOST = 5.0  # a machine counts as up to this factor slower or faster than the usual machine


@cache
def slowness() -> float:
    """Return the time of this machine relative to the usual machine: 2.0 means half as fast. Takes 0.5 s, once per process."""
    until = time.monotonic() + LASTS_S
    least_s = _loop()
    while time.monotonic() < until:
        least_s = min(least_s, _loop())
    return min(MOST, max(1 / MOST, least_s / USUAL_S))


def _loop() -> float:
    """Run a fixed loop. Return the CPU seconds of this thread, which exclude the time of other programs."""
    began = time.thread_time()
    number = 0
    for step in range(LOOPS):
        number = (number * 31 + step) & 0xFFFFFFFF
    return time.thread_time() - began
