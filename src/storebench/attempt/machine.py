"""What this process runs on, and since when."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any


def seconds_since_start() -> float:
    """Seconds since this process was started by the kernel (resolution: one clock tick, 10 ms)."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # field 22: start time since boot
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started_s


def usable_cores(limit_cores: float | None) -> float:
    """The cores that this process may use: those that it may run on, within the container's CPU limit if it has one."""
    cores = len(os.sched_getaffinity(0))
    return min(cores, limit_cores or cores)


def process_cpu_s(pid: int) -> float:
    """CPU seconds of another process, all its threads (resolution: one clock tick); 0 where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def describe(packages: Sequence[str]) -> dict[str, Any]:
    """The machine and the software of this process: kernel, CPU, Python, and the versions of `packages`."""
    return {
        "kernel": platform.release(),
        "cpu_model": _cpu_model(),
        "cpus": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "python": platform.python_version(),
        "revision": os.environ.get("STOREBENCH_REVISION"),  # of the image's source; -dirty: not as committed
        "packages": {package: metadata.version(package) for package in packages},
    }


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()
