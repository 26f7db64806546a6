"""Check a pod's result against its study, and judge the disturbance of an attempt whose pod's program does not judge it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from storebench.attempt import disturbance
from storebench.attempt.node import CPU_STATES, NodeCounters, figures, strangers
from storebench.attempt.result import AttemptResult
from storebench.attempt.usage import SOMEWHERE
from storebench.errors import BadResult
from storebench.stores.base import Store
from storebench.study.model import Operation, Study
from storebench.study.observing import disturbed_by


def with_disturbances(
    result: AttemptResult,
    store: type[Store],
    *,
    cpu_limit: bool,
    servers: bool = False,
    profile: str | None = None,
) -> AttemptResult:
    """Return a verified result with the node's figures and disturbances that its window shows, or the reason why these are unknown.

    A result without a window stays as its pod has judged it. `store` says what the figures cover where the pod does not.
    `cpu_limit`: the run asked for a CPU limit. `servers`: the run has provisioned the store's servers. `profile`: the profile that
    the run asked for, which disturbs every attempt, whether or not the pod has a profiler.
    """
    if result.status != "verified":
        return result
    has_server = any(pod["role"] == "server" for pod in result.usage)
    covered = "engine" if has_server else store.figures_cover
    result = replace(result, figures_cover=result.figures_cover or covered)
    if profile:
        result.disturbed = "; ".join(filter(None, [disturbed_by(profile), result.disturbed]))
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


TEXT_CHARACTERS = 4096  # the most characters of a text in a result; the remainder is cut off
ENVIRONMENT_BYTES = 64 * 2**10
TEXTS = (
    "error_kind",
    "error",
    "verification",
    "disturbed",
    "perhaps_disturbed",
    "not_judged",
    "durability_stated",
    "delivers",
    "code_version",
)
LENGTHS = {"histograms": ("values", "counts"), "series": ("at_s", "values")}


def check_result(
    result: AttemptResult, study: Study, operation: Operation, lacks: Collection[str] = ()
) -> AttemptResult:
    """Return the result with its texts cut to TEXT_CHARACTERS, checked against the study.

    A verified result with an unknown metric, without a metric of its operation, or of too large a size becomes a failure without figures.
    A failed result keeps its error, and the scalars that the study knows. `lacks`: metrics that the store cannot report.
    """
    result = replace(result)
    result.without_secrets()
    for name in TEXTS:
        if text := getattr(result, name):
            setattr(result, name, text[:TEXT_CHARACTERS])
    problems = list(_problems(result, study, operation, lacks))
    if not problems:
        return result
    bare = replace(result, histograms={}, series={}, metrics={})
    if _environment_bytes(result) > ENVIRONMENT_BYTES:
        bare.environment = {}
    if _twice(result):
        bare.usage = []
    if result.status == "verified":
        return replace(bare, status="failed", error_kind=BadResult.kind, error="; ".join(problems))
    scalars = {metric.name for metric in study.metrics if metric.kind == "scalar"}
    bare.metrics = {name: value for name, value in result.metrics.items() if name in scalars}
    return bare


def _environment_bytes(result: AttemptResult) -> int:
    return len(json.dumps(result.environment).encode())


def _twice(result: AttemptResult) -> list[tuple[str, str]]:
    """Return the role and name of each pod that is in `usage` more than once."""
    counted = Counter((pod["role"], pod["name"]) for pod in result.usage)
    return [pod for pod, n in counted.items() if n > 1]


def _problems(
    result: AttemptResult, study: Study, operation: Operation, lacks: Collection[str]
) -> Iterator[str]:
    kinds = {metric.name: metric.kind for metric in study.metrics}
    reported: dict[str, Mapping[str, Any]] = {
        "scalar": result.metrics,
        "histogram": result.histograms,
        "series": result.series,
    }
    for kind, names in reported.items():
        for name in names:
            if name not in kinds:
                yield f"The result has the metric {name!r}, which the study {study.name} does not know"
            elif kinds[name] != kind:
                yield f"The metric {name!r} of the study {study.name} is a {kinds[name]}, and the result has it as a {kind}"
    for field, (first, second) in LENGTHS.items():
        for name, points in getattr(result, field).items():
            if len(points[first]) != len(points[second]):
                yield (
                    f"{field}.{name} has {len(points[first]):,} {first} and {len(points[second]):,} {second}"
                )
    if result.status == "verified":
        for name in operation.metrics:
            if name not in reported[kinds[name]] and name not in lacks:
                yield f"The result lacks {name!r}, a metric of the operation {operation.name}"
    for role, name in _twice(result):
        yield f"usage has the {role} {name!r} twice"
    if (size_bytes := _environment_bytes(result)) > ENVIRONMENT_BYTES:
        yield f"environment has {size_bytes:,} bytes, and may have {ENVIRONMENT_BYTES:,}"
