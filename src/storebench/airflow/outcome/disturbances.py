"""Judge the attempt of a pod in another language by its `window`: the growth of the node's counters during the operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from storebench.attempt import disturbance
from storebench.attempt.node import CPU_STATES, NodeCounters, figures, strangers
from storebench.attempt.result import AttemptResult
from storebench.attempt.usage import SOMEWHERE
from storebench.stores.base import Store


def with_disturbances(
    result: AttemptResult, store: type[Store], *, cpu_limit: bool, servers: bool = False
) -> AttemptResult:
    """Return a verified result with the node's figures and disturbances that its window shows, or the reason why these are unknown.

    A result without a window stays as its pod has judged it. `store` says what the figures cover where the pod does not.
    `cpu_limit`: the run asked for a CPU limit. `servers`: the run has provisioned the store's servers.
    """
    if result.status != "verified":
        return result
    has_server = any(pod["role"] == "server" for pod in result.usage)
    covered = "engine" if has_server else store.figures_cover
    result = replace(result, figures_cover=result.figures_cover or covered)
    if (window := result.window) is None:
        return result
    # A store whose engine is in the pod uses no CPU outside the pod.
    elsewhere_s: dict[str, float] | None = {} if store.figures_cover == "engine" and not servers else None
    before, after = _counters(window, elsewhere_s)
    wall_s, cores = after.at_s, window["cores"]
    node, others = figures(before, after), strangers(before, after, SOMEWHERE)
    if others and others.least == others.most:
        node = replace(node, node_strangers_cores=round(others.most, 4))
    reasons = [
        result.disturbed,
        *disturbance.of_throttling(window.get("throttled_periods") or 0, asked_for=cpu_limit),
        *disturbance.of_node(node, others, wall_s, cores=cores),
    ]
    perhaps = disturbance.perhaps_of_node(node, others, wall_s, cores=cores)
    return replace(
        result,
        **vars(node),
        disturbed="; ".join(filter(None, reasons)) or None,
        perhaps_disturbed="; ".join(filter(None, [result.perhaps_disturbed, perhaps])) or None,
        not_judged=disturbance.why_not_judged(node, others, wall_s),
    )


def _counters(
    window: Mapping[str, Any], elsewhere_s: Mapping[str, float] | None
) -> tuple[NodeCounters, NodeCounters]:
    """Return counters at the beginning and the end that differ by the window. Without the pod's CPU time, that of others is unknown."""
    cpu_s, own_s = window.get("node_cpu_s") or {}, window.get("cpu_s")
    known = own_s is not None and cpu_s.keys() >= set(CPU_STATES)
    after = NodeCounters(
        window["seconds"],
        dict(window.get("stalled_s") or {}),
        {state: cpu_s[state] for state in CPU_STATES} if known else {},
        own_s or 0.0,
        elsewhere_s,
    )
    before = NodeCounters(
        0.0, dict.fromkeys(after.stalled_s, 0.0), dict.fromkeys(after.cpu_s, 0.0), 0.0, elsewhere_s
    )
    return before, after
