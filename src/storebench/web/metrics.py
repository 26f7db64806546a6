"""Answer the metrics of the results in the format OpenMetrics, for Prometheus. docs/how-to/monitoring.md describes them.

Each metric is a gauge: `storebench prune` lowers the numbers of runs and attempts, and imported runs raise them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Response
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric as MetricFamily
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from storebench.results.leftovers.stopped import RunStates
from storebench.web.access import AirflowStatesDep, Queued, QueuedDep, TotalsDep
from storebench.web.runs import current
from storebench.web.totals import Totals

STATES = ("running", "success", "failed", "refused")
Samples = Mapping[tuple[str, ...], float]  # the values by the values of the labels


@dataclass(frozen=True)
class Gauge:
    """The declaration of a metric. `unit` is the end of its name."""

    name: str
    labels: tuple[str, ...]
    text: str
    unit: str = ""

    def family(self, samples: Samples) -> GaugeMetricFamily:
        """Return the metric with its samples."""
        family = GaugeMetricFamily(self.name, self.text, labels=self.labels, unit=self.unit)
        for values, number in samples.items():
            family.add_metric(values, number)
        return family


RUNS = Gauge("storebench_runs", ("study", "state"), "Number of runs in the results.")
LAST_SUCCESS = Gauge(
    "storebench_last_run_success",
    ("study",),
    "1 if the newest ended run has verified all its operations, else 0. Refused runs are excluded.",
)
LAST_DURATION = Gauge(
    "storebench_last_run_duration_seconds", ("study",), "Working time of the same run.", "seconds"
)
QUEUED = Gauge("storebench_queued_runs", ("study",), "Number of runs that wait in Airflow's queue.")
PENDING = Gauge(
    "storebench_pending_operations", ("study",), "Operations of open runs that have no attempt yet."
)
ATTEMPTS = Gauge(
    "storebench_attempts",
    ("study", "store", "operation", "status"),
    "Number of attempts in the results, with warm-ups and superseded tries.",
)
FAILURES = Gauge(
    "storebench_failed_attempts",
    ("study", "store", "operation", "error_kind"),
    "Number of failed attempts by the kind of the error.",
)
AGE = Gauge(
    "storebench_last_verified_attempt_age_seconds",
    ("study",),
    "Time since the newest verified attempt was recorded.",
    "seconds",
)
GAUGES = (RUNS, LAST_SUCCESS, LAST_DURATION, QUEUED, PENDING, ATTEMPTS, FAILURES, AGE)


def metrics(totals: TotalsDep, states: AirflowStatesDep, queued: QueuedDep) -> Response:
    """Return the metrics of the studies that the user may read, or of all studies for a program with the token."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(list(families(totals, states, queued))))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _Collected(Collector):
    """Metrics that are already collected."""

    def __init__(self, collected: Sequence[MetricFamily]) -> None:
        self.collected = collected

    def collect(self) -> Iterable[MetricFamily]:
        return self.collected


def families(totals: Totals, states: RunStates, queued: Queued) -> Iterator[GaugeMetricFamily]:
    """Yield all metrics. A run that was stopped in Airflow counts as the next run will record it."""
    open_runs = current(totals, states, totals.open_counted())
    ended = [run for run in open_runs if run["finished_at"]]
    runs = _runs(totals.runs_by_state(), ended)
    studies = sorted({study for study, _ in runs})
    last = {run["study"]: run for run in totals.last_runs()}
    for run in ended:
        if run["study"] not in last or run["started_at"] > last[run["study"]]["started_at"]:
            last[run["study"]] = run
    attempts = totals.attempts_by_outcome()
    waiting = queued(totals.dag_ids)

    yield RUNS.family(runs)
    yield LAST_SUCCESS.family({(name,): run["state"] == "success" for name, run in last.items()})
    yield LAST_DURATION.family({(name,): _worked_s(run) for name, run in last.items()})
    yield QUEUED.family({(study,): waiting.get(study, 0) for study in studies})
    yield PENDING.family({(study,): _pending(open_runs, study) for study in studies})
    yield ATTEMPTS.family(_summed(attempts, ATTEMPTS.labels))
    yield FAILURES.family(_summed((row for row in attempts if row["status"] == "failed"), FAILURES.labels))
    ages = sorted((row["age_s"], row["study"]) for row in attempts if row["status"] == "verified")
    yield AGE.family({(study,): age_s for age_s, study in reversed(ages)})


def _runs(rows: Iterable[Mapping[str, Any]], ended: Iterable[Mapping[str, Any]]) -> Samples:
    """Return the number of runs of each study in each state. `ended`: runs that are recorded as running, and have ended."""
    counted = {(row["study"], row["state"]): row["runs"] for row in rows}
    numbers = {(study, state): 0 for study, _ in counted for state in STATES} | counted
    for run in ended:
        numbers[run["study"], "running"] -= 1
        numbers[run["study"], run["state"]] += 1
    return numbers


def _worked_s(run: Mapping[str, Any]) -> float:
    seconds: float = (run["finished_at"] - run["started_at"]).total_seconds() - run["rested_s"]
    return seconds


def _pending(open_runs: Iterable[Mapping[str, Any]], study: str) -> int:
    return sum(
        run["planned"] - run["verified"] - run["failed"] - run["not_run"]
        for run in open_runs
        if run["study"] == study and not run["finished_at"]
    )


def _summed(rows: Iterable[Mapping[str, Any]], labels: Sequence[str]) -> Samples:
    numbers: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        numbers[tuple(row[label] for label in labels)] += row["attempts"]
    return numbers
