"""API models of runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from storebench.web.models.answers import Answer, Page
from storebench.web.models.studies import CellName


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
    """A page of runs."""

    latest: str | None = Field(
        description="The id of the run that 'latest' names among them all; None if each was refused"
    )


class Turn(CellName):
    """One repeat of a cell in a run. `task_group` and `map_index` are its tasks' in Airflow; no index for a cell that was left out."""

    task_group: str
    map_index: int | None
    repeat: int
    warm_up: bool
    arm: Literal["A", "B"] | None
    skipped: str | None = Field(description="Why it was left out, if it was")
    operations: list[str]
