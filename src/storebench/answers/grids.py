"""Models of a study's grid."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from storebench.answers.base import Answer


class Parameter(Answer):
    """A parameter for runs of single cells, as in the DAG's form."""

    name: str
    title: str
    text: str = Field(description="Markdown")
    default: Any = Field(description="None: the parameter may stay empty")
    main: bool = Field(
        description="Whether every user chooses the parameter: the dataset's parameters and the number of repeats"
    )
    examples: list[Any]


class GridCell(Answer):
    """A cell of a study's grid, for one set of parameters."""

    key: str = Field(description="The key of the cell's partition, from which Airflow creates a run")
    date: datetime = Field(description="The date that selects the cell in a backfill")
    state: str = Field(
        description="The state as in `storebench grid`: missing, failed, disturbed, verified once"
    )
    operations: int = Field(description="Number of operations still to measure; 0 if the cell is complete")
    unknown: int = Field(
        description="Number of these operations whose time is a guess, without a similar attempt or a typical time"
    )
    expected_s: float = Field(description="Estimated seconds for these operations; the minimum of a range")
    expected_most_s: float = Field(
        description="The maximum of the range; equal to `expected_s` without a range"
    )
    refused: str | None = Field(
        description="Why the newest run of this cell with these parameters was refused before any work; None if it was not refused"
    )


class Grid(Answer):
    """A study's grid for one set of parameters, ordered by date."""

    cells: list[GridCell]
    conf: dict[str, Any] = Field(
        description="The configuration of a run that measures a cell's remaining operations"
    )
    may_start: bool = Field(description="Whether the user may start runs of the DAG")
