"""What the page's API answers. The names of figures end with their units: `_s`, `_bytes`. The front end's types are made from it."""

from __future__ import annotations

import uuid
from datetime import date, datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

Status = Literal["verified", "failed", "not_run"]
Better = Literal["lower", "higher", "neither"]


class Answer(BaseModel):
    """What is in an answer is always there, also where it is empty."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class Page(Answer, Generic[T]):
    """Some of many: `more` says whether there are others after these."""

    items: list[T]
    offset: int
    more: bool


class Run(Answer):
    """A run of a study."""

    id: str
    study: str
    dag_id: str
    airflow_run_id: str
    state: Literal["running", "success", "failed", "refused"]
    reason: str | None = Field(None, description="Why it was refused, or ended before it had done all")
    started_at: datetime
    finished_at: datetime | None
    rested_s: float = Field(
        description="Between an end and being started again, as when tasks of it were cleared: no part of what it took"
    )
    method_version: int
    code_version: str
    order_seed: int | None
    params: dict[str, Any]
    stores: list[str]
    rows: int | None = Field(
        None, description="Of its dataset; None before the run is planned, or without a dataset"
    )
    seed: int | None = Field(None, description="Likewise")
    cells: int
    cell_key: str | None = Field(description="Of its cell, where it has only one")
    expected_s: float | None = Field(
        None, description="How long all of it takes, by what earlier attempts took; None if not known"
    )
    expected_most_s: float | None = Field(
        None,
        description="The most that it takes, where only a range is known; `expected_s` is then the least",
    )
    planned: int = Field(description="Operations that it set out to do")
    verified: int
    disturbed: int = Field(description="Of the verified")
    failed: int
    not_run: int
    to_close: bool = Field(
        False, description="It is over in Airflow, where it was stopped. The next run records that"
    )


class Runs(Page[Run]):
    """Some of the runs."""

    latest: str | None = Field(
        description="The id of the run that 'latest' names among them all; None if each was refused"
    )


class Metric(Answer):
    """What attempts report."""

    name: str
    title: str
    unit: str
    better: Better
    kind: Literal["scalar", "histogram", "series"]
    by_cover: bool = Field(description="Its figures of a client and of an engine never share a chart")


class Operation(Answer):
    """A step of a cell."""

    name: str
    metrics: list[str] = Field(description="What a verified attempt reports; the first ranks it")
    needs: list[str]


class Axis(Answer):
    """What is varied."""

    name: str
    title: str
    description: str
    numeric: bool
    grid: list[str] = Field(description="What a backfill fills")
    where: dict[str, list[str]] = Field(
        description="It means something only for these values of others, or of `store`"
    )


class Store(Answer):
    """A store of a study, with what its pods can do."""

    name: str
    clients: list[str]
    operations: list[str]
    keeps_data: bool
    server: str | None = Field(description="Its connection in Airflow; None: it has no server")
    filled_by: str | None = Field(description="The store that fills it, if it does not do that itself")


class Chart(Answer):
    """A metric of some operations (none: of all that report it), what its colours tell apart, and of what there is a chart each.

    Both are an axis, `store`, `client` or `operation`. Lines are what is left over.
    """

    metric: str
    colour: str
    operations: list[str]
    panel: str


class Param(Answer):
    """A parameter of a study's own."""

    name: str
    title: str
    description: str


class StudyDataset(Answer):
    """What a study measures with. Each has rows and a seed."""

    name: str
    version: int


class Study(Answer):
    """What a study asks, as it was when a run of it last began. `common` are the metrics that all studies have."""

    name: str
    title: str
    description: str
    method_version: int
    operations: list[Operation]
    metrics: list[Metric]
    common: list[Metric]
    axes: list[Axis]
    stores: list[Store]
    charts: list[Chart]
    params: list[Param]
    dataset: StudyDataset | None


class CellName(Answer):
    """What was measured."""

    cell_key: str
    study: str
    store: str
    client: str
    axes: dict[str, str] = Field(description="Where it is on the axes that mean something for it")
    rows: int
    seed: int


class Turn(CellName):
    """One repeat of a cell in a run. `task_group` and `map_index` are its tasks' in Airflow; no index for a cell that was left out."""

    task_group: str
    map_index: int | None
    repeat: int
    warm_up: bool
    arm: Literal["A", "B"] | None
    skipped: str | None = Field(description="Why it was left out, if it was")
    operations: list[str]


class Machine(Answer):
    """What a pod ran on, as it told itself; None for what it did not tell."""

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


class Parameter(Answer):
    """What a user may choose for runs of single cells, as the form of the DAG has it."""

    name: str
    title: str
    text: str = Field(description="Markdown")
    default: Any = Field(description="None: it may stay empty")
    main: bool = Field(description="Everybody chooses it: it is of the dataset, or how often to measure")
    examples: list[Any]


class GridCell(Answer):
    """A cell of a study's grid, for one set of parameters."""

    key: str = Field(description="Of its partition, of which Airflow makes a run")
    date: datetime = Field(description="By which a backfill knows it")
    state: str = Field(description="As `storebench grid` has it: missing, failed, disturbed, verified once")
    operations: int = Field(description="Still to be measured; 0 where it is done")
    unknown: int = Field(description="Of these, how many are like none that was measured before")
    expected_s: float = Field(description="About how long they take, at least")
    expected_most_s: float = Field(description="And at most; the same where it is no range")
    refused: str | None = Field(
        description="Why the newest run of this cell with these parameters was refused before any work, if it was"
    )


class Grid(Answer):
    """A study's grid for one set of parameters, in the order of the dates."""

    cells: list[GridCell]
    conf: dict[str, Any] = Field(
        description="With which a run measures what is still to be measured of a cell"
    )
    may_start: bool = Field(description="Whether the user may start runs of the DAG")


class Spread(Answer):
    """A figure's median over verified, undisturbed repeats, and its confidence interval, which fewer than 6 repeats do not have."""

    n: int
    median: float
    low: float | None
    high: float | None
    coverage: float | None = Field(description="How often such an interval holds the median: at least 0.95")


class CellFigures(CellName):
    """A cell's operation in a run: every attempt, and what they say together."""

    operation: str
    attempts: list[Attempt]
    figures: dict[str, Spread] = Field(description="By metric")


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


class Price(CellName):
    """What it cost in CPU and memory of the pods; hours are medians over the `n` attempts that count, for each of what `per` says."""

    operation: str
    figures_cover: Literal["client", "engine"] | None
    n: int
    left_out: int = Field(
        description="Attempts that are not verified, were disturbed, or whose CPU was not recorded"
    )
    per: Literal["GB", "attempt"] = Field(
        description="A GB (10^9 bytes) of the dataset, or an attempt of a study without one"
    )
    cpu_hours: float | None
    memory_gib_hours: float | None
    cost: float | None = Field(description="In the currency of the prices")


class Origin(Answer):
    """Where the figures of several attempts come from; what they have in common is there once."""

    servers: list[str] = Field(description="That answered, with their versions")
    durability: list[str]
    machines: list[Machine]
    code_versions: list[str]
    dates: list[date] = Field(description="On which they were recorded, UTC")


class Compared(CellName):
    """One cell's operation on both sides."""

    operation: str
    origin_before: Origin
    origin_after: Origin
    remarks: list[str] = Field(
        description="What is unsound: attempts that failed, were disturbed, or that their client bound; sides of different durability"
    )


class Verdict(Compared):
    """B against A."""

    label: Literal["better", "worse", "higher", "lower", "the same", "cannot tell"] = Field(
        description="Higher and lower where neither is better"
    )
    metric: str | None
    unit: str | None
    reason: str | None = Field(description="Why it cannot be told, and how many repeats would do")
    n_before: int
    n_after: int
    median_before: float
    median_after: float
    mean_before: float | None = Field(
        description="Geometric mean of A's repeats, the outermost tenths left out; None where figures of 0 or below have none"
    )
    mean_after: float | None = Field(description="Likewise of B's")
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    low: float | None
    high: float | None
    p_adjusted: float | None


class Without(Compared):
    """Why there is no verdict."""

    reason: str


class Comparison(Answer):
    """Two runs, cell by cell, and what else differs between them."""

    before: Run
    after: Run
    verdicts: list[Verdict]
    without: list[Without]
    differences: list[str]
    test: str
    margin_percent: float
    caution: str | None = Field(description="What the comparison leaves open, whatever its verdicts")
