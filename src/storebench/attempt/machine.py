"""Describe this process, its machine and its software."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any


def seconds_since_start() -> float:
    """Return the seconds since the kernel started this process (resolution: one clock tick, 10 ms)."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # field 22: start time since boot
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started_s


def usable_cores(limit_cores: float | None) -> float:
    """Return the number of cores that this process may use: its CPU affinity, within the container's CPU limit if there is a limit."""
    cores = len(os.sched_getaffinity(0))
    return min(cores, limit_cores or cores)


def process_cpu_s(pid: int) -> float:
    """Return the CPU seconds of all threads of another process (resolution: one clock tick); 0 if the process has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def describe(packages: Sequence[str]) -> dict[str, Any]:
    """Return the machine and the software of this process: kernel, CPU, Python, and the versions of `packages`.

    Equal machines have equal descriptions: no entry identifies a single machine."""
    return {
        "kernel": platform.release(),
        "cpu_model": _cpu_model(),
        "cpus": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "python": platform.python_version(),
        "packages": {package: metadata.version(package) for package in packages},
    }


def _memory_gib() -> int:
    """Return the machine's memory, rounded to GiB: firmware and kernel reserve slightly different amounts on equal machines."""
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()
