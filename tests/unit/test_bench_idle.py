"""Figures of processes that start, end and share memory."""

import os
import subprocess
import sys

from bench.idle import PODS, Process, part_of, sample, used

NAMES = {10: "process-compose", 11: "airflow-scheduler", 12: "kubelet"}


def test_a_process_is_its_first_ancestor_s_that_the_supervisor_has_named():
    processes = {pid: Process(parent, 0, 0) for pid, parent in {10: 1, 11: 10, 20: 11, 21: 20, 30: 1}.items()}
    assert [part_of(pid, processes, NAMES) for pid in (10, 11, 21, 30)] == [
        "process-compose",
        "airflow-scheduler",
        "airflow-scheduler",
        PODS,
    ]


def test_a_child_that_ends_leaves_its_time_with_its_parent_and_counts_only_what_is_new():
    before = {11: Process(1, 50.0, 0), 20: Process(11, 8.0, 0), 12: Process(1, 3.0, 0)}
    after = {11: Process(1, 60.0, 400), 21: Process(11, 0.5, 100), 12: Process(1, 3.0, 70)}
    assert used(before, after, NAMES) == {"airflow-scheduler": (2.5, 500), "kubelet": (0.0, 70)}


def test_a_process_is_sampled_with_the_children_that_it_has_waited_for():
    burn = "import time\nwhile time.process_time() < 0.35: pass"  # ticks of 10 ms are counted
    before = sample([os.getpid()])[os.getpid()]
    subprocess.run([sys.executable, "-c", burn], check=True)
    after = sample([os.getpid()])[os.getpid()]
    assert after.cpu_s - before.cpu_s >= 0.3
    assert after.pss_bytes > 1e6 and after.parent == os.getppid()


def test_a_process_that_has_ended_is_excluded():
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert sample([ended.pid]) == {}
