"""Merge the results of an operation's parts into the leader's result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storebench.attempt.parts.spans import Spans
from storebench.attempt.result import AttemptResult
from storebench.errors import BadResult

# The figures of a part's pod that its row of `usage` has.
POD_FIGURES = (
    "memory_peak_bytes",
    "memory_working_set_peak_bytes",
    "cpu_s",
    "oom_kills",
    "throttled_s",
    "throttled_periods",
    "client_cpu_share",
    "client_cores_usable",
)
REASONS = ("disturbed", "perhaps_disturbed", "not_judged")
BY_SECOND: Mapping[str, Callable[[Iterable[float]], float]] = {
    "sum": math.fsum,
    "max": max,
}  # how the values of one time of a series become one value


@dataclass(frozen=True)
class PartResult:
    """The result of a part that is not the leader, and its pod and node."""

    number: int
    pod: str
    node: str
    result: AttemptResult


def merge(
    whole: AttemptResult, parts: Sequence[PartResult], rules: Mapping[str, str], spans: Spans | None
) -> None:
    """Add the parts' figures to the leader's result `whole`.

    `rules`: the metrics' rules by name. `spans`: when the parts worked; None if the store observed no operation. Raises BadResult for a metric
    that has no rule.
    """
    results = [whole, *(part.result for part in parts)]
    _metrics(whole, results, rules, spans)
    _histograms(whole, results)
    _series(whole, results, rules)
    for name in REASONS:
        reasons = [getattr(whole, name)]
        reasons += [
            f"part {part.number} (pod {part.pod}): {reason}"
            for part in parts
            if (reason := getattr(part.result, name))
        ]
        setattr(whole, name, "; ".join(filter(None, reasons)) or None)
    for part in parts:
        whole.usage.append(_usage(part, spans))
        # All parts report the servers that the run provisioned: the leader's rows are enough
        whole.usage += [row for row in part.result.usage if row["role"] != "server"]
    if spans:
        whole.start_skew_s = spans.skew_s()
        if doubt := spans.doubt():
            whole.perhaps_disturbed = "; ".join(filter(None, [whole.perhaps_disturbed, doubt]))


def _metrics(
    whole: AttemptResult, results: Sequence[AttemptResult], rules: Mapping[str, str], spans: Spans | None
) -> None:
    for name in dict.fromkeys(name for result in results for name in result.metrics):
        rule = _rule(name, rules)
        values = {n: result.metrics[name] for n, result in enumerate(results) if name in result.metrics}
        if rule == "sum":
            whole.metrics[name] = math.fsum(values.values())
        elif rule == "max":
            whole.metrics[name] = max(values.values())
        elif rule == "span":
            whole.metrics[name] = max(
                value + (spans.delay_s(n) if spans else 0.0) for n, value in values.items()
            )
        elif rule != "leader":
            raise BadResult(f"The metric {name!r} has the rule {rule!r}, which merges no numbers")


def _histograms(whole: AttemptResult, results: Sequence[AttemptResult]) -> None:
    merged: dict[str, Counter[float]] = {}
    for result in results:
        for name, histogram in result.histograms.items():
            counts = merged.setdefault(name, Counter())
            for value, count in zip(histogram["values"], histogram["counts"], strict=True):
                counts[value] += count  # type: ignore[assignment] # counts are whole numbers
    for name, counts in merged.items():
        values = sorted(counts)
        whole.histograms[name] = {"values": values, "counts": [counts[value] for value in values]}


def _series(whole: AttemptResult, results: Sequence[AttemptResult], rules: Mapping[str, str]) -> None:
    for name in dict.fromkeys(name for result in results for name in result.series):
        rule = _rule(name, rules)
        if rule == "leader":
            continue
        if rule not in BY_SECOND:
            raise BadResult(f"The series {name!r} has the rule {rule!r}, which merges no series")
        points: dict[float, list[float]] = {}
        for series in (result.series[name] for result in results if name in result.series):
            for at_s, value in zip(series["at_s"], series["values"], strict=True):
                points.setdefault(at_s, []).append(value)
        times = sorted(points)
        whole.series[name] = {"at_s": times, "values": [BY_SECOND[rule](points[at_s]) for at_s in times]}


def _rule(name: str, rules: Mapping[str, str]) -> str:
    if name not in rules:
        raise BadResult(
            f"The metric {name!r} has no rule by which the figures of several pods are merged: its study declares none (Metric.merge)"
        )
    return rules[name]


def _usage(part: PartResult, spans: Spans | None) -> dict[str, Any]:
    return {
        "role": "client",
        "name": part.pod,
        "part": part.number,
        "node": part.node,
        **{name: getattr(part.result, name) for name in POD_FIGURES},
        "start_delay_s": spans.delay_s(part.number) if spans else None,
        "waited_s": spans.waited_s(part.number) if spans else None,
    }
