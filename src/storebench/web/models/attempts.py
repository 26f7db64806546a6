"""API models of attempts and their summaries."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from storebench.web.models.answers import Answer
from storebench.web.models.studies import CellName

Status = Literal["verified", "failed", "not_run"]


class Machine(Answer):
    """The machine of a pod, as the pod reported it; None for unknown values."""

    cpus: int | None
    cpu_model: str | None
    memory_gib: float | None


class Attempt(CellName):
    """One attempt; a row of the view `results`."""

    attempt_id: uuid.UUID
    run_id: str
    run: str
    operation: str
    delivers: str | None = Field(description="What the operation hands to the program")
    repeat: int
    try_number: int
    superseded: bool = Field(False, description="A later try of the same operation counts instead")
    warm_up: bool
    arm: str | None
    status: Status
    error_kind: str | None
    error: str | None
    disturbed: str | None = Field(description="Why its time counts nowhere although its data is right")
    perhaps_disturbed: str | None = Field(
        description="What may have disturbed it, or was the store's own work: nobody tells. Its time counts"
    )
    metric: str | None = Field(
        description="The one that ranks the operation; None where nothing was measured"
    )
    value: float | None = Field(description="Of that metric")
    unit: str | None
    metrics: dict[str, float] = Field(description="All its scalars, by name")
    durability: Literal["disk", "memory", "none", "s3", "unknown"] | None = Field(
        description="What the acknowledgement of what it wrote promises"
    )
    durability_stated: str | None
    total_s: float | None
    work_total_s: float | None = Field(
        description="The total without the verification; None where how long that took is not known"
    )
    figures_cover: Literal["client", "engine"] | None = Field(
        description="What memory and CPU are of: a client without its server, or the engine itself"
    )
    all_memory_working_set_peak_bytes: int | None
    all_cpu_s: float | None
    client_cpu_share: float | None
    client_cores_usable: float | None
    client_bound: bool | None = Field(description="None where the engine is in the pod")
    service_cpu_share: float | None = Field(
        description="Cores that the busiest service in front of the store kept busy"
    )
    service_cores_usable: float | None
    service_bound: bool | None = Field(description="None where no service is in front of the store")
    node_cpu_some_share: float | None
    node_memory_some_share: float | None
    node_memory_full_share: float | None
    node_io_some_share: float | None
    node_io_full_share: float | None
    node_steal_share: float | None
    node_others_cores: float | None
    node_strangers_cores: float | None
    server_name: str | None
    server_version: str | None
    environment_hash: str | None
    machine: Machine | None = Field(description="None where nothing is known of it")
    parameters_hash: str | None
    parameters: dict[str, Any] | None = Field(
        description="The run's parameters that change what is measured; None if nothing ran, or not recorded"
    )
    method_version: int
    code_version: str
    node: str | None
    recorded_at: datetime


class Spread(Answer):
    """A figure's median over verified, undisturbed repeats, and its confidence interval, which fewer than 6 repeats do not have."""

    n: int
    median: float
    low: float | None
    high: float | None
    coverage: float | None = Field(description="How often such an interval holds the median: at least 0.95")


class Used(Answer):
    """CPU and memory hours: medians of the `n` attempts that count, per GB (10^9 bytes) of the dataset, or per attempt of
    a study without one.
    """

    n: int
    cpu_hours: float
    memory_gib_hours: float


class CellFigures(CellName):
    """A cell's operation in a run: every attempt, and what they say together."""

    operation: str
    attempts: list[Attempt]
    figures: dict[str, Spread] = Field(description="By metric")
    used: Used | None = Field(
        description="In the pods; None where that was measured of no attempt that counts"
    )


class CellPhases(CellName):
    """Where the time went in the verified, undisturbed attempt whose total is nearest to the cell's median; where there is none, in the last."""

    operation: str
    attempt: Attempt
    phases: dict[str, float] = Field(description="Seconds by name, in their order")


class CellArtifacts(CellName):
    """The histograms and the series of a cell's operation."""

    operation: str
    n: int = Field(description="Attempts that count and reported any")
    curves: dict[str, list[tuple[float, float]]] = Field(
        description="By metric: percentile and value, of all attempts that count, their counts added"
    )
    series: dict[str, list[tuple[float, float]]] = Field(
        description="By metric: seconds since the operation began and value, of the attempt whose total is nearest to the median"
    )
