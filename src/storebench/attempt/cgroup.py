"""Read the memory and CPU figures of this container from its cgroup, version 1 or 2.

Sources: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
SAMPLE_INTERVAL_S = 0.1


@dataclass(frozen=True)
class CpuUsage:
    """CPU use of the container since its start."""

    cpu_s: float
    throttled_s: float
    throttled_periods: int


class Cgroup:
    """The cgroup mounted at `root`. A missing file gives None or 0, never an error."""

    def __init__(self, root: Path = ROOT) -> None:
        self.version = 2 if (root / "cgroup.controllers").exists() else 1
        self._memory = root if self.version == 2 else root / "memory"
        self._cpu = root if self.version == 2 else root / "cpu"
        self._cpuacct = root if self.version == 2 else root / "cpuacct"
        if self.version == 2:
            self._usage_name, self._inactive_key = "memory.current", "inactive_file"
        else:
            self._usage_name, self._inactive_key = "memory.usage_in_bytes", "total_inactive_file"

    def memory_peak_bytes(self) -> int | None:
        """Return the highest memory use so far in bytes, including page cache."""
        return _integer(self._memory / ("memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"))

    def memory_working_set_bytes(self) -> int | None:
        """Return the memory in use now in bytes, without page cache that the kernel can drop at once."""
        usage = _integer(self._memory / self._usage_name)
        if usage is None:
            return None
        return max(0, usage - _table(self._memory / "memory.stat").get(self._inactive_key, 0))

    def memory_limit_bytes(self) -> int | None:
        """Return the container's memory limit in bytes; None without a limit."""
        limit = _integer(self._memory / ("memory.max" if self.version == 2 else "memory.limit_in_bytes"))
        return limit if limit is not None and limit < 2**60 else None

    def oom_kills(self) -> int:
        """Return the number of the container's processes that the kernel killed for lack of memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return _table(self._memory / name).get("oom_kill", 0)

    def cpu_limit_cores(self) -> float | None:
        """Return the container's CPU limit in cores; None without a limit."""
        if self.version == 2:
            quota, _, period = _text(self._cpu / "cpu.max").partition(" ")
        else:
            quota, period = (_text(self._cpu / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None

    def cpu(self) -> CpuUsage:
        """Return the CPU use so far; 0 for each missing figure."""
        table = _table(self._cpu / "cpu.stat")
        if self.version == 2:
            cpu_s, throttled_s = table.get("usage_usec", 0) / 1e6, table.get("throttled_usec", 0) / 1e6
        else:
            cpu_s = (_integer(self._cpuacct / "cpuacct.usage") or 0) / 1e9
            throttled_s = table.get("throttled_time", 0) / 1e9
        return CpuUsage(cpu_s, throttled_s, table.get("nr_throttled", 0))


class WorkingSetSampler:
    """A thread that samples the working set every 100 ms and keeps the peak in bytes."""

    def __init__(self, cgroup: Cgroup) -> None:
        self._cgroup = cgroup
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="working-set-sampler", daemon=True)
        self.peak_bytes: int | None = None

    def start(self) -> None:
        self._sample()
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()

    def _run(self) -> None:
        while not self._stop.wait(SAMPLE_INTERVAL_S):
            self._sample()

    def _sample(self) -> None:
        now = self._cgroup.memory_working_set_bytes()
        if now is not None:
            self.peak_bytes = max(now, self.peak_bytes or 0)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _integer(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.isdigit() else None


def _table(path: Path) -> dict[str, int]:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines)
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}
