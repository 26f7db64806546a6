"""Detect disturbances: reasons why an attempt's time is not comparable although its data is right.

docs/method.md and docs/decisions/0014 explain the limits.
"""

from __future__ import annotations

from collections.abc import Mapping

from storebench.attempt.node import Strangers
from storebench.protocol.figures import NodeFigures

# Limits, as shares of the operation's wall time and of the node's CPU time.
MAX_STEAL = 0.05
MAX_MEMORY_FULL = 0.01
# Strangers' work (not the store's) is a disturbance under two conditions. First, it keeps more than MAX_OTHERS_CORES cores and more
# than MAX_OTHERS_SHARE of the node's cores busy. Second, tasks waited for a CPU for more than MAX_CPU_SOME of the time, or more than
# MAX_BUSY_SHARE of the node's CPUs were busy. A process that only computes keeps one core busy; the kernel's ticks miss a part of that.
MAX_OTHERS_CORES, MAX_OTHERS_SHARE = 0.9, 0.25
MAX_CPU_SOME = 0.5
# Two CPUs may be threads of one core, which a virtual machine hides: work on one thread then slows the other thread without any wait.
MAX_BUSY_SHARE = 0.5
# The kernel counts CPU time in ticks of 10 ms: too coarse for shorter operations and for less stolen time.
MIN_WALL_S = 0.1
MIN_STEAL_S = 0.03
# The server's clock and this pod's clock are not read at the same moment.
START_TOLERANCE_S = 2.0


def of_node(node: NodeFigures, strangers: Strangers | None, wall_s: float, *, cores: int) -> list[str]:
    """Return how other work on the node, or its hypervisor, disturbed an operation of `wall_s` seconds. `cores`: the node's CPUs."""
    if wall_s < MIN_WALL_S:
        return []
    steal, memory = node.node_steal_share or 0.0, node.node_memory_full_share or 0.0
    reasons = []
    if steal > MAX_STEAL and steal * cores * wall_s > MIN_STEAL_S:
        reasons.append(f"{steal:.0%} of the node's CPU time was stolen")
    if memory > MAX_MEMORY_FULL:
        reasons.append(f"all tasks on the node waited for memory {memory:.0%} of the time")
    if strangers and _took_cpu(strangers.least, node, strangers, cores):
        reasons.append(
            f"others kept {strangers.least:.1f} cores busy, and {_crowded(node, strangers, cores)}"
        )
    return reasons


def perhaps_of_node(
    node: NodeFigures, strangers: Strangers | None, wall_s: float, *, cores: int
) -> str | None:
    """Return how other work may have disturbed an operation, if the store's own share of the work is unknown; else None."""
    if wall_s < MIN_WALL_S or strangers is None or _took_cpu(strangers.least, node, strangers, cores):
        return None
    if not _took_cpu(strangers.most, node, strangers, cores):
        return None
    return (
        f"it is not known how much of {strangers.most:.1f} busy cores beside the pod was the store's own work,"
        f" and {_crowded(node, strangers, cores)}"
    )


def why_not_judged(node: NodeFigures, strangers: Strangers | None, wall_s: float) -> str | None:
    """Return why an operation of `wall_s` seconds cannot be judged for other work on the node; None if it can be judged."""
    if wall_s < MIN_WALL_S:
        return f"it took {1000 * wall_s:.3g} ms, and the kernel counts CPU time in steps of 10 ms"
    if node.node_cpu_some_share is None:
        return "the node's kernel does not report how long tasks waited for a CPU (/proc/pressure)"
    if strangers is None:
        return (
            "the node's kernel does not report how busy its CPUs were (/proc/stat), or how busy the pod was"
        )
    return None


def _took_cpu(others: float, node: NodeFigures, strangers: Strangers, cores: int) -> bool:
    enough = max(MAX_OTHERS_CORES, MAX_OTHERS_SHARE * cores)
    return others > enough and _crowded(node, strangers, cores) is not None


def _crowded(node: NodeFigures, strangers: Strangers, cores: int) -> str | None:
    """Return the evidence that the node had too few CPUs for all its work; None if the node had enough."""
    if (waited := node.node_cpu_some_share or 0.0) > MAX_CPU_SOME:
        return f"tasks waited for a CPU {waited:.0%} of the time"
    if strangers.busy > MAX_BUSY_SHARE * cores:
        return f"all work together {strangers.busy:.1f} of the node's {cores}"
    return None


def of_throttling(periods: int, *, asked_for: bool) -> list[str]:
    """Return the disturbance by a CPU limit that the run did not ask for. A limit that the run asked for is part of the measurement."""
    return [f"throttled in {periods} periods"] if periods and not asked_for else []


def of_server(before: Mapping[str, float], after: Mapping[str, float]) -> list[str]:
    """Return the disturbance by a restart of the server.

    `before`, `after`: the server's processes as returned by storebench.stores.base.Store.server_processes.
    """
    if not before or not after:
        return []  # the processes are not visible
    same = before.keys() == after.keys() and all(
        abs(after[name] - before[name]) <= START_TOLERANCE_S for name in before
    )
    return [] if same else ["the server was restarted, or another one answered"]
