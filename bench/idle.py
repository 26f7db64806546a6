"""Measure the CPU and memory of the embedded stack while no run is active: `make bench-idle`.

CPU seconds come from /proc/PID/stat at the beginning and at the end, and include children that have ended. Memory is the
proportional set size: a page that several processes share counts once. Both cover all processes in the stack's cgroup.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import click
import psutil
from rich.console import Console
from rich.table import Table

from local.stack import cgroup, supervisor
from local.stack.settings import Settings
from storebench.cli.airflow_api import Airflow
from storebench.cli.environment import airflow_login
from storebench.results.leftovers.stopped import OPEN_STATES

PODS = "pods"  # pods, and other processes that the supervisor has not started


@dataclass(frozen=True)
class Process:
    """A process at a moment."""

    parent: int
    cpu_s: float  # including ended children
    pss_bytes: int


def sample(pids: Iterable[int]) -> dict[int, Process]:
    processes = {}
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            times = process.cpu_times()
            cpu_s = times.user + times.system + times.children_user + times.children_system
            processes[pid] = Process(process.ppid(), cpu_s, process.memory_full_info().pss)
    return processes


def part_of(pid: int, processes: Mapping[int, Process], names: Mapping[int, str]) -> str:
    """Return the supervisor's name of the process's ancestor."""
    while pid in processes:
        if pid in names:
            return names[pid]
        pid = processes[pid].parent
    return PODS


def used(
    before: Mapping[int, Process], after: Mapping[int, Process], names: Mapping[int, str]
) -> dict[str, tuple[float, int]]:
    """Return for each part the CPU seconds between two samples, and the bytes of memory in the second sample.

    The kernel adds the CPU seconds of a child that has ended to its parent's, so that the sum of a part loses none.
    """
    cpu_s: dict[str, float] = defaultdict(float)
    pss: dict[str, int] = defaultdict(int)
    for pid, process in before.items():
        cpu_s[part_of(pid, before, names)] -= process.cpu_s
    for pid, process in after.items():
        part = part_of(pid, after, names)
        cpu_s[part] += process.cpu_s
        pss[part] += process.pss_bytes
    return {part: (cpu_s[part], pss[part]) for part in cpu_s}


def names_of(settings: Settings) -> dict[int, str]:
    """Return the names of parts by the ids of their first processes."""
    states = supervisor.processes(settings)
    if states is None:
        raise click.ClickException("The stack is not running: `make up` starts it")
    started = {state["pid"]: str(state["name"]) for state in states if state["is_running"]}
    supervisors = {psutil.Process(pid).ppid(): "process-compose" for pid in started}
    return supervisors | started


def check_idle() -> None:
    airflow = Airflow(*airflow_login())
    runs = airflow.get("dags", "~", "dagRuns", params={"state": OPEN_STATES}, patience_s=0)
    if runs["total_entries"]:
        raise click.ClickException(f"{runs['total_entries']} runs are queued or running: wait for their end")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--seconds", type=click.IntRange(1), default=120, show_default=True, help="How long CPU is counted."
)
def main(seconds: int) -> None:
    """Measure the CPU and memory of the stack's parts without an active run."""
    settings = Settings()
    check_idle()
    names = names_of(settings)
    before, began = sample(cgroup.processes(settings.cgroup)), time.monotonic()
    time.sleep(seconds)
    after, took_s = sample(cgroup.processes(settings.cgroup)), time.monotonic() - began
    check_idle()
    usage = used(before, after, names)
    table = Table(title=f"The stack without a run, {took_s:.0f} s")
    for heading in ("part", "CPU, % of a core", "proportional set size, MB"):
        table.add_column(heading, justify="left" if heading == "part" else "right")
    for part, (cpu_s, pss) in sorted(usage.items(), key=lambda item: item[1], reverse=True):
        table.add_row(part, f"{100 * cpu_s / took_s:.2f}", f"{pss / 1e6:.0f}")
    Console(width=100).print(table)
    cores = sum(cpu_s for cpu_s, _ in usage.values()) / took_s
    print(f"idle_cpu_cores={cores:.3f} idle_pss_mb={sum(pss for _, pss in usage.values()) / 1e6:.0f}")


if __name__ == "__main__":
    main()
