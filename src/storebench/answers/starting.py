"""Models of a future run: its form and its draft."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from storebench.answers.base import Answer
from storebench.study.record import StoreRecord


class FormField(Answer):
    """A parameter of a run, as in the DAG's form."""

    name: str
    title: str
    text: str = Field(description="Markdown")
    default: Any = Field(description="None: the parameter may stay empty")
    kind: Literal["list", "flag", "text"] = Field(description="The items of a list are separated by commas")
    examples: list[Any] = Field(description="Examples of values; for a list, examples of items")


class Section(Answer):
    """Fields that belong together."""

    title: str
    fields: list[FormField]


class Preset(Answer):
    """A named set of parameters."""

    name: str
    description: str
    params: dict[str, Any]


class Form(Answer):
    """The form of a study's run."""

    sections: list[Section]
    presets: list[Preset]
    stores: list[StoreRecord] = Field(description="The stores of the study, also before its first run")


class Mistake(Answer):
    """Why the plan would refuse the run."""

    parameter: str | None = Field(description="None: the mistake concerns several parameters")
    text: str


class DraftCell(Answer):
    """A cell of the planned run."""

    key: str
    label: str
    repeats: int = Field(description="Number of repeats; 0 if the cell is skipped")
    skipped: str | None = Field(description="Why the cell is skipped; None if it is not skipped")


class Draft(Answer):
    """The plan of a run with the parameters. With mistakes, there are no cells."""

    mistakes: list[Mistake]
    cells: list[DraftCell] = Field(default=[], description="The first cells, in the requested order")
    cells_total: int = 0
    operations: int = 0
    unknown: int = Field(
        default=0,
        description="Number of operations whose time is a guess, without a similar attempt or a typical time",
    )
    expected_s: float = Field(default=0, description="Estimated seconds for the run; the minimum of a range")
    expected_most_s: float = Field(
        default=0, description="The maximum of the range; equal to `expected_s` without a range"
    )
    may_end_earlier: bool = Field(
        default=False, description="Whether a precision or a budget may end the run early"
    )
    dropped: int = Field(default=0, description="Number of excluded combinations")
    dropped_because: str = ""
    conf: dict[str, Any] = Field(
        default={}, description="The configuration with which Airflow starts the run"
    )
    may_start: bool = Field(description="Whether the user may start runs of the DAG")
