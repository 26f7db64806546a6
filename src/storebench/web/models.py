"""What the page's API answers. Times are seconds (`_s`), memory is bytes (`_bytes`)."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field

T = TypeVar("T")

Operation = Literal["write", "read"]
Status = Literal["verified", "failed", "not_run"]


class Page(BaseModel, Generic[T]):
    """Some of many: `more` says whether there are others after these."""

    items: list[T]
    offset: int
    more: bool


class Run(BaseModel):
    """A run of a study."""

    id: str
    study: str
    dag_id: str
    airflow_run_id: str
    state: Literal["running", "success", "failed", "refused"]
    reason: str | None = Field(None, description="Why it was refused, or ended before it had done all")
    started_at: datetime
    finished_at: datetime | None
    method_version: int
    code_version: str
    order_seed: int | None
    params: dict[str, Any]
    stores: list[str]
    rows: int | None = Field(description="Of its dataset; None before its cells are planned")
    seed: int | None
    cells: int
    cell_key: str | None = Field(description="Of its cell, where it has only one")
    expected_s: float | None = Field(
        None, description="How long all of it takes, by what earlier attempts took; None if not known"
    )
    planned: int = Field(description="Operations that it set out to do")
    verified: int
    disturbed: int = Field(description="Of the verified")
    failed: int
    not_run: int


class CellName(BaseModel):
    """What was measured."""

    cell_key: str
    store: str
    client: str
    batch_size: str | None = Field(description="Rows in one write call, or `all`")
    executors: int | None
    rows: int = Field(description="Of the dataset")
    seed: int = Field(description="Likewise")


class Turn(CellName):
    """One repeat of a cell in a run. `task_group` and `map_index` are its tasks' in Airflow; no index for a cell that was left out."""

    task_group: str
    map_index: int | None
    repeat: int
    warm_up: bool
    arm: Literal["A", "B"] | None
    skipped: str | None = Field(description="Why it was left out, if it was")
    operations: list[Operation]


class Attempt(CellName):
    """One attempt; a row of the view `results`."""

    attempt_id: uuid.UUID
    run_id: str
    run: str
    operation: Operation
    delivers: str | None = Field(description="What a read hands to the program")
    repeat: int
    try_number: int
    superseded: bool = Field(False, description="A later try of the same operation counts instead")
    warm_up: bool
    arm: str | None
    status: Status
    error_kind: str | None
    error: str | None
    disturbed: str | None = Field(description="Why its time counts nowhere although its data is right")
    only_s: float | None
    rows_per_s: float | None = Field(
        description="Rows of the dataset for each second of only_s; None if not verified"
    )
    source_s: float | None
    barrier_s: float | None
    durability: Literal["disk", "memory", "none", "s3", "unknown"] | None = Field(
        description="What the acknowledgement of a write promises"
    )
    durability_stated: str | None
    total_s: float | None
    figures_cover: Literal["client", "engine"] | None = Field(
        description="What memory and CPU are of: a client without its server, or the engine itself"
    )
    all_memory_working_set_peak_bytes: int | None
    all_cpu_s: float | None
    client_cpu_share: float | None
    client_cores_usable: float | None
    client_bound: bool | None = Field(description="None where the engine is in the pod")
    node_cpu_some_share: float | None
    node_memory_some_share: float | None
    node_memory_full_share: float | None
    node_io_some_share: float | None
    node_io_full_share: float | None
    node_steal_share: float | None
    node_others_cores: float | None
    server_name: str | None
    server_version: str | None
    environment_hash: str | None
    node: str | None
    recorded_at: datetime


class Parameter(BaseModel):
    """What a user may choose for runs of single cells, as the form of the DAG has it."""

    name: str
    title: str
    text: str = Field(description="Markdown")
    default: Any = Field(description="None: it may stay empty")
    examples: list[Any]


class GridCell(BaseModel):
    """A cell of a study's grid, for one set of parameters."""

    key: str = Field(description="Of its partition, of which Airflow makes a run")
    date: datetime = Field(description="By which a backfill knows it")
    state: str = Field(description="As `storebench grid` has it: missing, failed, disturbed, verified once")
    operations: int = Field(description="Still to be measured; 0 where it is done")
    unknown: int = Field(description="Of these, how many are like none that was measured before")
    expected_s: float = Field(description="About how long they take")


class Grid(BaseModel):
    """A study's grid for one set of parameters, in the order of the dates."""

    cells: list[GridCell]
    conf: dict[str, Any] = Field(
        description="With which a run measures what is still to be measured of a cell"
    )
    may_start: bool = Field(description="Whether the user may start runs of the DAG")


class Spread(BaseModel):
    """A figure's median over verified, undisturbed repeats, and its confidence interval, which fewer than 6 repeats do not have."""

    n: int
    median: float
    low: float | None
    high: float | None
    coverage: float | None = Field(description="How often such an interval holds the median: at least 0.95")


class CellFigures(CellName):
    """A cell's operation in a run: every attempt, and what they say together."""

    operation: Operation
    attempts: list[Attempt]
    only_s: Spread | None
    rows_per_s: Spread | None
    total_s: Spread | None
    memory_bytes: Spread | None


class CellPhases(CellName):
    """Where the time went in the verified, undisturbed attempt whose total is nearest to the cell's median; where there is none, in the last."""

    operation: Operation
    attempt: Attempt
    phases: dict[str, float] = Field(description="Seconds by name, in their order")


class Price(CellName):
    """What a verified GB cost in CPU and memory of the pods; hours are medians over the `n` attempts that count."""

    operation: Operation
    figures_cover: Literal["client", "engine"] | None
    n: int
    left_out: int = Field(
        description="Attempts that are not verified, were disturbed, or whose CPU was not recorded"
    )
    cpu_hours_per_gb: float | None
    memory_gib_hours_per_gb: float | None
    cost_per_gb: float | None = Field(description="In the currency of the prices")


class Compared(CellName):
    """One cell's operation on both sides."""

    operation: Operation
    remarks: list[str] = Field(
        description="What is unsound: attempts that failed, were disturbed, or that their client bound; sides of different durability"
    )


class Verdict(Compared):
    """B against A."""

    label: Literal["faster", "slower", "the same", "cannot tell"]
    reason: str | None = Field(description="Why it cannot be told, and how many repeats would do")
    n_before: int
    n_after: int
    median_before_s: float
    median_after_s: float
    ratio: float = Field(description="Geometric mean B / geometric mean A: above 1 is slower")
    low: float | None
    high: float | None
    p_adjusted: float | None


class Without(Compared):
    """Why there is no verdict."""

    reason: str


class Comparison(BaseModel):
    """Two runs, cell by cell, and what else differs between them."""

    before: Run
    after: Run
    verdicts: list[Verdict]
    without: list[Without]
    differences: list[str]
    test: str
    margin_percent: float
    caution: str | None = Field(description="What the comparison leaves open, whatever its verdicts")
