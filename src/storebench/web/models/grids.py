"""API models of a study's grid."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from storebench.web.models.answers import Answer


class Parameter(Answer):
    """A parameter for runs of single cells, as the DAG's form has it."""

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
