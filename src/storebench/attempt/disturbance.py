"""What makes an attempt's time incomparable although its data is right, and the limits from which on it does.

Why they are what they are: docs/method.md, docs/decisions/0014.
"""

from __future__ import annotations

from collections.abc import Mapping

from storebench.attempt.node import NodeFigures

# Limits, as shares of the operation's wall time and of the node's CPU time.
MAX_STEAL = 0.05
MAX_MEMORY_FULL = 0.01
# Only for stores whose whole work is done in the pod. Other work is a disturbance if it kept more than one core and more than this
# share of the node's cores busy, and if tasks waited for a CPU for more than this share of the time.
MAX_OTHERS_CORES, MAX_OTHERS_SHARE = 1.0, 0.25
MAX_CPU_SOME = 0.5
# The kernel counts CPU time in ticks of 10 ms, which is too coarse for a shorter operation.
MIN_WALL_S = 1.0
# The server's clock and ours are not read at the same moment.
START_TOLERANCE_S = 2.0


def of_node(node: NodeFigures, wall_s: float, *, cores: int, alone: bool) -> list[str]:
    """What other work on a node of so many cores, or its hypervisor, took away; `alone`: the store's whole work is this pod's."""
    if wall_s < MIN_WALL_S:
        return []
    steal, memory = node.node_steal_share or 0.0, node.node_memory_full_share or 0.0
    waited, others = node.node_cpu_some_share or 0.0, node.node_others_cores or 0.0
    found = []
    if steal > MAX_STEAL:
        found.append(f"{steal:.0%} of the node's CPU time was stolen")
    if memory > MAX_MEMORY_FULL:
        found.append(f"all tasks on the node waited for memory {memory:.0%} of the time")
    if alone and others > max(MAX_OTHERS_CORES, MAX_OTHERS_SHARE * cores) and waited > MAX_CPU_SOME:
        found.append(
            f"others kept {others:.1f} cores busy, and tasks waited for a CPU {waited:.0%} of the time"
        )
    return found


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
