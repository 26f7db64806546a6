"""Models of attempts and their summaries."""

from __future__ import annotations

import uuid
from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from storebench.answers.base import Answer
from storebench.answers.studies import CellName
from storebench.protocol.figures import Figures, UsageFigures

Status = Literal["verified", "failed", "not_run"]


class Machine(Answer):
    """The machine of a pod, as the pod reported it; None for unknown values."""

    cpus: int | None
    cpu_model: str | None
    memory_gib: float | None


class Origin(Answer):
    """The origin of several attempts' figures; a value that they share is listed once."""

    servers: list[str] = Field(description="The servers that answered, with their versions")
    durability: list[str]
    machines: list[Machine]
    code_versions: list[str]
    dates: list[date] = Field(description="The dates when the figures were recorded, UTC")


class Attempt(CellName, Figures):
    """One attempt with all its figures; a row of the view `results`."""

    attempt_id: uuid.UUID
    run_id: str
    run: str
    operation: str
    repeat: int
    try_number: int
    superseded: bool = Field(default=False, description="A later try of the same operation counts instead")
    warm_up: bool
    arm: str | None
    status: Status
    error_kind: str | None
    error: str | None
    metric: str | None = Field(
        description="The metric that ranks the operation; None if nothing was measured"
    )
    value: float | None = Field(description="The value of `metric`")
    unit: str | None
    metrics: dict[str, float] = Field(description="All scalar metrics of the attempt, by name")
    work_total_s: float | None = Field(
        description="The total without the verification; None if the verification's time is unknown"
    )
    all_memory_working_set_peak_bytes: int | None
    all_cpu_s: float | None
    client_pods: int | None = Field(
        description="Number of pods that did the operation together; None if the attempt failed before its pods left their results"
    )
    client_bound: bool | None = Field(
        description="Whether any of these pods was bound by its client; None if the engine is in the pod"
    )
    service_bound: bool | None = Field(description="None if no service is in front of the store")
    server_name: str | None
    server_version: str | None
    environment_hash: str | None
    machine: Machine | None = Field(description="None if unknown")
    parameters_hash: str | None
    parameters: dict[str, Any] | None = Field(
        description="The run's parameters that affect the measurement; None if nothing ran or nothing was recorded"
    )
    method_version: int
    code_version: str
    node: str | None
    pod: str | None
    recorded_at: datetime


class PodUsage(Answer, UsageFigures):
    """The figures of a pod of an attempt: its own pod, or a row of the table `usage`."""

    role: Literal["client", "executor", "server"] = Field(
        description="`client`: the pod did the operation, or a part of it"
    )
    name: str = Field(description="The pod's name; empty if unknown")
    pods: int = Field(description="More than 1 for a row with the sum of several pods")
    client_bound: bool | None = Field(description="Whether the client was the bottleneck; None if unknown")


class Spread(Answer):
    """A figure's median over verified, undisturbed repeats, and its confidence interval. The interval needs at least 6 repeats."""

    n: int
    median: float
    interval_low: float | None = Field(description="Lower bound of the median's interval")
    interval_high: float | None
    interval_coverage: float | None = Field(
        description="The probability that such an interval contains the median: at least 0.95"
    )


class Used(Answer):
    """CPU and memory hours: medians of the `n` counted attempts, per GB (10^9 bytes) of the dataset, or per attempt in a study
    without a dataset.
    """

    n: int
    cpu_hours: float
    memory_gib_hours: float


class CellFigures(CellName):
    """A cell's operation in a run: all attempts, and their statistics."""

    operation: str
    attempts: list[Attempt]
    figures: dict[str, Spread] = Field(description="Spreads by metric")
    used: Used | None = Field(
        description="CPU and memory hours in the pods; None if no counted attempt has these figures"
    )


class CellPhases(CellName):
    """The phases of a cell's typical attempt: the verified, undisturbed attempt with the total nearest to the median, or else the last attempt."""

    operation: str
    attempt: Attempt
    phases: dict[str, float] = Field(description="Seconds by phase name, in the order of the phases")


class CellArtifacts(CellName):
    """The histograms and series of a cell's operation."""

    operation: str
    n: int = Field(description="Number of counted attempts with histograms or series")
    servers: list[str] = Field(description="Names of the servers that answered")
    percentiles: dict[str, list[tuple[float, float]]] = Field(
        description="Pairs of percentile and value by metric, from the summed histograms of all counted attempts"
    )
    series: dict[str, list[tuple[float, float]]] = Field(
        description="Pairs of seconds since the operation began and value by metric, of the attempt with the total nearest to the median"
    )
    series_of: uuid.UUID | None = Field(
        description="The attempt with the total nearest to the median, which has the series; None if no attempt has series"
    )
