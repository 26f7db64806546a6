"""Models of runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from storebench.answers.base import Answer, Page
from storebench.answers.studies import CellName


class Run(Answer):
    """A run of a study."""

    id: str
    study: str
    dag_id: str
    airflow_run_id: str
    state: Literal["queued", "running", "success", "failed", "refused"] = Field(
        description="`queued`: in Airflow's queue, or not planned yet. A run without a plan has no turns and no cells"
    )
    reason: str | None = Field(default=None, description="Why the run was refused, or ended early")
    started_at: datetime
    finished_at: datetime | None
    rested_s: float = Field(
        description="Seconds between an end and a restart of the run, as when its tasks were cleared: not part of its duration"
    )
    method_version: int
    code_version: str
    order_seed: int | None
    params: dict[str, Any]
    tags: list[str] = Field(default=[], description="Labels that users gave to the run")
    stores: list[str]
    rows: int | None = Field(
        default=None,
        description="Rows of the run's dataset; None before the run is planned, or without a dataset",
    )
    seed: int | None = Field(default=None, description="Seed of the run's dataset; None as for `rows`")
    cells: int
    cell_key: str | None = Field(description="Key of the run's cell, if the run has only one")
    expected_s: float | None = Field(
        default=None, description="Estimated seconds for the whole run; None if unknown"
    )
    expected_most_s: float | None = Field(
        default=None,
        description="The maximum of the estimate, if only a range is known; `expected_s` is then the minimum",
    )
    planned: int = Field(description="Number of planned operations")
    verified: int
    disturbed: int = Field(description="Number of verified operations that were disturbed")
    failed: int
    not_run: int
    to_close: bool = Field(
        default=False, description="The run was stopped in Airflow. The next run records its end"
    )


class Runs(Page[Run]):
    """A page of runs."""

    latest: str | None = Field(
        description="The ID of the run that 'latest' names among all runs; None if every run was refused"
    )


class Turn(CellName):
    """One repeat of a cell in a run. `task_group` and `map_index` locate its tasks in Airflow; a skipped cell has no index."""

    task_group: str
    map_index: int | None
    repeat: int
    warm_up: bool
    arm: Literal["A", "B"] | None
    skipped: str | None = Field(description="Why the cell was skipped; None if it was not skipped")
    operations: list[str]
