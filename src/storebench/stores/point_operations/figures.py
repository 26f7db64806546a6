"""Report the figures of a load's requests, and find the load's problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from storebench.errors import VerificationFailed
from storebench.stores.point_operations import requests

NOT_KEPT_SHARE = (
    0.01  # share of missing requests that breaks a rate: more than the requests in flight at both ends
)

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.stores.point_operations.distribution import Distribution
    from storebench.stores.point_operations.load_plan import Step
    from storebench.stores.point_operations.requests import Requests
    from storebench.stores.point_operations.tally import Tally

    Measured = Requests | Tally


def report(attempt: Attempt, measured: Measured, meant: int) -> None:
    """Record the figures of a load: latencies of all requests, and under other names latencies of successful requests.

    `meant`: number of requests that the rate asked for; 0 without a rate. Without any measured request only counts are recorded."""
    counts = measured.counts()
    begun = sum(counts.values())
    attempt.metric("operations_per_s", counts["done"] / measured.seconds)
    attempt.metric("max_operations_per_s", measured.busiest_per_s())
    attempt.metric("error_share", 1 - counts["done"] / begun if begun else 1.0)
    attempt.metric("timeouts", counts["timeout"])
    attempt.metric("connection_errors", counts["connection"])
    attempt.metric("server_errors", counts["server"])
    attempt.metric("measured_from_s", measured.measured_from_s)
    attempt.metric("not_begun_share", not_begun_share(begun, meant))
    if begun:
        _report_latencies(attempt, measured)
        _report_seconds(attempt, measured)


def _report_latencies(attempt: Attempt, measured: Measured) -> None:
    """Record percentiles and a histogram of latency and service time, for all requests and for successful requests."""
    for successful, view in ((False, ""), (True, "successful_")):
        for served, prefix, name in ((False, view, "latency_s"), (True, f"{view}service_", "s")):
            if len(found := measured.distribution(served=served, successful=successful)):
                attempt.histogram(f"{prefix}{name}", found.histogram())
                for metric, percent in requests.PERCENTILES.items():
                    attempt.metric(f"{prefix}{metric}", found.percentile(percent))


def _report_seconds(attempt: Attempt, measured: Measured) -> None:
    """Record the series by second, including the warm-up."""
    seconds: list[tuple[int, Distribution, int]] = list(measured.distributions_each_second())
    attempt.series(
        "each_second_operations_per_s", ((at, len(latencies) - errors) for at, latencies, errors in seconds)
    )
    attempt.series("each_second_errors", ((at, errors) for at, _, errors in seconds))
    attempt.series("each_second_users", sorted(measured.users.items()))
    for name in ("p50_s", "p95_s", "p99_s"):
        percent = requests.PERCENTILES[name]
        points = ((at, latencies.percentile(percent)) for at, latencies, _ in seconds if len(latencies))
        attempt.series(f"each_second_{name}", points)


def not_begun_share(begun: int, meant: int) -> float:
    """Return the share of planned requests that did not begin; 0 for a load without a rate."""
    return max(0.0, 1 - begun / meant) if meant else 0.0


def behind(measured: Measured, meant: int) -> str | None:
    """Return a sentence about a rate that was not kept, so that the figures do not show that rate; None if it was kept."""
    share = not_begun_share(sum(measured.counts().values()), meant)
    if share <= NOT_KEPT_SHARE:
        return None
    return f"the rate was not kept: {share:.2%} of its requests did not begin while it was measured"


def report_steps(attempt: Attempt, steps: Sequence[Step], latencies: Sequence[Distribution]) -> None:
    """Record the rate and the 99th percentile of each step of a load by steps. `latencies`: of each step."""
    attempt.series("each_step_operations_per_s", ((step.from_s, step.rate) for step in steps))
    percent = requests.PERCENTILES["p99_s"]
    attempt.series(
        "each_step_p99_s",
        (
            (step.from_s, found.percentile(percent))
            for step, found in zip(steps, latencies, strict=True)
            if len(found)
        ),
    )


def report_mix(attempt: Attempt, reads: Measured, writes: Measured) -> None:
    """Record latencies and failed requests of reads and of writes, each only if any request was measured."""
    for kind, measured in (("read", reads), ("write", writes)):
        if len(found := measured.distribution()):
            attempt.metric(f"{kind}_error_share", 1 - measured.counts()["done"] / len(found))
            attempt.histogram(f"{kind}_latency_s", found.histogram())
            for name in ("p50_s", "p99_s"):
                attempt.metric(f"{kind}_{name}", found.percentile(requests.PERCENTILES[name]))


def check_reads(reads: Measured, *, may_miss: bool = False) -> str:
    """Raise VerificationFailed for a read without an entity or with wrong fields, including reads in the warm-up.

    `may_miss`: a read may find nothing, as under a fault. Then the returned sentence has the number of such reads.
    """
    counts = reads.all_counts()
    if counts["wrong"] or (counts["missing"] and not may_miss):
        raise VerificationFailed(
            f"Of {sum(counts.values()):,} reads, {counts['missing']:,} found nothing and {counts['wrong']:,} found other fields"
            " than their ids must have"
        )
    missing = f"; {counts['missing']:,} more found nothing" if counts["missing"] else ""
    return f"{counts['done']:,} reads, each of which gave all fields that its id must have{missing}"


def problem(measured: Measured, rate: float, max_error_share: float) -> str | None:
    """Return a sentence about too many failed requests, or None. `rate`: requests per second of an open load, or 0."""
    counts = measured.counts()
    if not counts["done"]:
        behind = f", as the load generators are far behind the rate of {rate:g} a second" if rate else ""
        return f"No request was done in {measured.seconds:g} s: {_counted(counts)}{behind}"
    share = 1 - counts["done"] / sum(counts.values())
    if share <= max_error_share:
        return None
    return (
        f"{share:.2%} of the requests have failed, and at most {max_error_share:.2%} may: {_counted(counts)}"
    )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "none was begun"
