"""The network between tables and jobs."""

import io
import os
import sys
import threading
import time

import pytest

from storebench.stores.map_formats import network
from storebench.stores.map_formats.network import Link, feed, taken
from storebench.stores.map_formats.runner import Ended, Jobs

MBIT = 1_000_000
# A job that says it is ready, passes its input, and works for a while.
JOB = """
import json, os, sys, time
with os.fdopen(int(sys.argv[1]), "w") as told:
    print(json.dumps({"cpu_s": time.process_time()}), file=told, flush=True)
    sys.stdout.buffer.write(sys.stdin.buffer.read())
    until = time.process_time() + float(sys.argv[2])
    while time.process_time() < until:
        pass
    sys.stdout.close()
    print(json.dumps({"cpu_s": time.process_time(), "memory_peak_bytes": 1}), file=told, flush=True)
"""


def ran(data, bits_per_s, busy_s=0.0):
    (ended,) = Jobs(1, 60, bits_per_s).run(
        [data], lambda part, report: [sys.executable, "-c", JOB, str(report), str(busy_s)]
    )
    return ended


def test_a_link_passes_so_many_bits_a_second_and_saves_nothing_up():
    link, began_s, idle_s = Link(8 * MBIT), time.perf_counter(), 0.0
    for _ in range(20):
        link.passes(link.piece_bytes)
        rests_s = time.perf_counter()
        time.sleep(0.02)
        idle_s += time.perf_counter() - rests_s
    took_s = time.perf_counter() - began_s - idle_s
    assert took_s > 0.199, "20 pieces of a hundredth of a second"
    began_s = time.perf_counter()
    Link(8 * MBIT).passes(100_000)
    assert time.perf_counter() - began_s >= 0.1, "the first one, too"


def test_a_sleep_that_was_too_long_is_made_good(monkeypatch):
    now_s, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now_s[0] += seconds + 0.004

    monkeypatch.setattr(network.time, "sleep", sleep)
    monkeypatch.setattr(network.time, "perf_counter", lambda: now_s[0])
    link = Link(8 * MBIT)
    for _ in range(3):
        link.passes(10_000)
    assert slept == pytest.approx([0.010, 0.006, 0.006])


def test_a_slow_network_passes_the_same_bytes_both_ways_and_waiting_is_told_from_computing():
    data = os.urandom(500_000)
    fast, slow = ran(data, None, 0.2), ran(data, 10 * MBIT, 0.2)
    assert fast.output == slow.output == data
    assert slow.seconds > 0.39 + 0.39 - 0.1, "in, then out; pipes hold 64 KiB of it"
    assert slow.off_cpu_s > 0.39 + 0.39 - 0.1
    assert slow.off_cpu_s == pytest.approx(slow.seconds - slow.cpu_s)
    assert slow.cpu_s > 0.19 and fast.cpu_s > 0.19


def test_several_threads_of_a_job_are_no_negative_time():
    assert Ended(0, seconds=1.0, start_s=0, cpu_s=1.5, memory_peak_bytes=0, output=b"").off_cpu_s == 0


@pytest.mark.parametrize("bits_per_s", [None, 10 * MBIT])
def test_a_job_that_reads_no_more_ends_its_feeding(bits_per_s):
    reading, writing = os.pipe()
    feeding = threading.Thread(target=feed, args=(os.fdopen(writing, "wb"), bytes(1 << 20), bits_per_s))
    feeding.start()
    os.close(reading)
    feeding.join(5)
    assert not feeding.is_alive()


def test_nothing_is_taken_of_a_job_that_writes_nothing():
    assert taken(io.BufferedReader(io.BytesIO(b"")), 10 * MBIT) == b""
