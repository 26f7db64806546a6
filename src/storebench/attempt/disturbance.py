"""What makes an attempt's time incomparable although its data is right, and the limits from which on it does.

Why they are what they are: docs/method.md, docs/decisions/0014.
"""

from __future__ import annotations

from collections.abc import Mapping

from storebench.attempt.node import NodeFigures, Strangers

# Limits, as shares of the operation's wall time and of the node's CPU time.
MAX_STEAL = 0.05
MAX_MEMORY_FULL = 0.01
# Work of strangers, which is not the store's, is a disturbance if it kept more cores and a larger share of the node's cores busy than
# this, and if tasks waited for a CPU for more than this share of the time, or more than this share of the node's CPUs was busy. A process
# that does nothing else keeps one core busy, and the kernel's ticks miss a part of that.
MAX_OTHERS_CORES, MAX_OTHERS_SHARE = 0.9, 0.25
MAX_CPU_SOME = 0.5
# Two CPUs may be threads of one core, which a virtual machine does not tell: then the work on one slows that on the other without any wait.
MAX_BUSY_SHARE = 0.5
# The kernel counts CPU time in ticks of 10 ms, which is too coarse for a shorter operation, and for less stolen time.
MIN_WALL_S = 0.1
MIN_STEAL_S = 0.03
# The server's clock and ours are not read at the same moment.
START_TOLERANCE_S = 2.0


def of_node(node: NodeFigures, strangers: Strangers | None, wall_s: float, *, cores: int) -> list[str]:
    """What other work on a node of so many cores, or its hypervisor, took away."""
    if wall_s < MIN_WALL_S:
        return []
    steal, memory = node.node_steal_share or 0.0, node.node_memory_full_share or 0.0
    found = []
    if steal > MAX_STEAL and steal * cores * wall_s > MIN_STEAL_S:
        found.append(f"{steal:.0%} of the node's CPU time was stolen")
    if memory > MAX_MEMORY_FULL:
        found.append(f"all tasks on the node waited for memory {memory:.0%} of the time")
    if strangers and _took_cpu(strangers.least, node, strangers, cores):
        found.append(f"others kept {strangers.least:.1f} cores busy, and {_crowded(node, strangers, cores)}")
    return found


def perhaps_of_node(
    node: NodeFigures, strangers: Strangers | None, wall_s: float, *, cores: int
) -> str | None:
    """What may have been such work, or the store's own where its share is not known."""
    if wall_s < MIN_WALL_S or strangers is None or _took_cpu(strangers.least, node, strangers, cores):
        return None
    if not _took_cpu(strangers.most, node, strangers, cores):
        return None
    return (
        f"it is not known how much of {strangers.most:.1f} busy cores beside the pod was the store's own work,"
        f" and {_crowded(node, strangers, cores)}"
    )


def why_not_judged(node: NodeFigures, strangers: Strangers | None, wall_s: float) -> str | None:
    """Return why nobody can say whether other work on the node disturbed an operation of `wall_s` seconds; None if it can be said."""
    if wall_s < MIN_WALL_S:
        return f"it took {1000 * wall_s:.3g} ms, and the kernel counts CPU time in steps of 10 ms"
    if node.node_cpu_some_share is None:
        return "the node's kernel does not tell how long tasks waited for a CPU (/proc/pressure)"
    if strangers is None:
        return "the node's kernel does not tell how busy its CPUs were (/proc/stat), or how busy the pod was"
    return None


def _took_cpu(others: float, node: NodeFigures, strangers: Strangers, cores: int) -> bool:
    enough = max(MAX_OTHERS_CORES, MAX_OTHERS_SHARE * cores)
    return others > enough and _crowded(node, strangers, cores) is not None


def _crowded(node: NodeFigures, strangers: Strangers, cores: int) -> str | None:
    """Return in words that the node had too few CPUs for all work on it; None if it had enough."""
    if (waited := node.node_cpu_some_share or 0.0) > MAX_CPU_SOME:
        return f"tasks waited for a CPU {waited:.0%} of the time"
    if strangers.busy > MAX_BUSY_SHARE * cores:
        return f"all work together {strangers.busy:.1f} of the node's {cores}"
    return None


def of_throttling(periods: int, *, asked_for: bool) -> list[str]:
    """By a CPU limit that the run did not ask for; one that it did is what is measured."""
    return [f"throttled in {periods} periods"] if periods and not asked_for else []


def of_server(before: Mapping[str, float], after: Mapping[str, float]) -> list[str]:
    """`before` and `after` are the server's processes, as storebench.stores.base.Store.server_processes gives them."""
    if not before or not after:
        return []  # the processes cannot be seen
    same = before.keys() == after.keys() and all(
        abs(after[name] - before[name]) <= START_TOLERANCE_S for name in before
    )
    return [] if same else ["the server was restarted, or another one answered"]
