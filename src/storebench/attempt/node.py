"""Measure how busy the node was during the operation: the kernel's pressure-stall figures, stolen time, and other work's CPU.

A pod sees these files of its node. Sources: the kernel's Documentation/accounting/psi.rst and filesystems/proc.rst.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from storebench.attempt.usage import SOMEWHERE
from storebench.protocol.figures import NodeFigures

PROC = Path("/proc")
# Columns of the first line of /proc/stat, in clock ticks since boot. `user` includes the columns after these.
CPU_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
IDLE = ("idle", "iowait", "steal")


@dataclass(frozen=True)
class NodeCounters:
    """Counters in seconds, at a moment of the monotonic clock. `stalled_s` and `cpu_s` may lack figures."""

    at_s: float
    stalled_s: dict[str, float]  # by the first part of NodeFigures' names: cpu_some, memory_full, …
    cpu_s: dict[str, float]  # by CPU_STATES, of all the node's CPUs
    own_cpu_s: float
    store_cpu_s: Mapping[str, float] | None = (
        None  # CPU seconds of the store's processes outside this pod, by machine
    )

    @classmethod
    def read(
        cls, own_cpu_s: float, store_cpu_s: Mapping[str, float] | None = None, proc: Path = PROC
    ) -> NodeCounters:
        """Read the counters now. `own_cpu_s`: CPU seconds of this pod so far. `store_cpu_s`: the same of the store outside the pod."""
        return cls(
            time.perf_counter(), _stalled_s(proc / "pressure"), _cpu_s(proc / "stat"), own_cpu_s, store_cpu_s
        )


@dataclass(frozen=True)
class Strangers:
    """Bounds of the average number of cores busy with strangers' work, neither this pod's (or another part's) nor its store's. `busy`: cores of all work."""

    least: float
    most: float
    busy: float = field(default=0.0, compare=False)


def strangers(
    before: NodeCounters, after: NodeCounters, machine: str, of_parts_s: Mapping[str, float] | None = None
) -> Strangers | None:
    """Compute the strangers' work between two moments; None if the node's CPU is not known. `machine`: this node's boot id.

    `of_parts_s`: CPU seconds between the moments of the other pods that do the same operation, by machine.
    """
    wall_s = after.at_s - before.at_s
    if wall_s <= 0 or (others_s := _others_s(before, after)) is None:
        return None
    busy = (others_s + after.own_cpu_s - before.own_cpu_s) / wall_s
    # Known also if the store's own work is not: parts are no strangers
    here_s = (of_parts_s or {}).get(machine, 0.0) if machine else 0.0
    somewhere_s = (of_parts_s or {}).get(SOMEWHERE, 0.0)
    if before.store_cpu_s is None or after.store_cpu_s is None:
        return Strangers(0.0, max(0.0, others_s - here_s) / wall_s, busy)
    grown_s = {
        name: max(0.0, cpu_s - before.store_cpu_s.get(name, 0.0)) for name, cpu_s in after.store_cpu_s.items()
    }
    most_s = others_s - here_s - (grown_s.get(machine, 0.0) if machine else 0.0)
    least_s = most_s - somewhere_s - grown_s.get(SOMEWHERE, 0.0)
    return Strangers(max(0.0, least_s) / wall_s, max(0.0, most_s) / wall_s, busy)


def figures(before: NodeCounters, after: NodeCounters) -> NodeFigures:
    """Compute the node's figures between two moments from the growth of the counters."""
    wall_s = after.at_s - before.at_s
    if wall_s <= 0:
        return NodeFigures()
    shares = {
        f"node_{name}_share": min(1.0, (stalled_s - before.stalled_s[name]) / wall_s)
        for name, stalled_s in after.stalled_s.items()
        if f"node_{name}_share" in NodeFigures.__dataclass_fields__ and name in before.stalled_s
    }
    if before.cpu_s and after.cpu_s:
        spent_s = {state: after.cpu_s[state] - before.cpu_s[state] for state in CPU_STATES}
        if total_s := sum(spent_s.values()):
            shares["node_steal_share"] = spent_s["steal"] / total_s
    if (others_s := _others_s(before, after)) is not None:
        shares["node_others_cores"] = others_s / wall_s
    return NodeFigures(**{name: round(share, 4) for name, share in shares.items()})


def _others_s(before: NodeCounters, after: NodeCounters) -> float | None:
    """Return the CPU seconds of all work outside this pod between two moments; None if the node's CPU is not known."""
    if not before.cpu_s or not after.cpu_s:
        return None
    busy_s = sum(after.cpu_s[state] - before.cpu_s[state] for state in CPU_STATES if state not in IDLE)
    return max(0.0, busy_s - (after.own_cpu_s - before.own_cpu_s))


def _stalled_s(pressure: Path) -> dict[str, float]:
    seconds = {}
    for resource in ("cpu", "memory", "io"):
        try:
            text = (pressure / resource).read_text()
        except OSError:  # the file does not exist, or the kernel's pressure accounting is off
            continue
        for kind, total_us in re.findall(r"^(some|full) .*total=(\d+)$", text, re.MULTILINE):
            seconds[f"{resource}_{kind}"] = int(total_us) / 1e6
    return seconds


def _cpu_s(stat: Path) -> dict[str, float]:
    try:
        ticks = stat.read_text().partition("\n")[0].split()[1:]
    except OSError:
        return {}
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    if len(ticks) < len(CPU_STATES):
        return {}
    return {state: int(n) * tick_s for state, n in zip(CPU_STATES, ticks, strict=False)}
