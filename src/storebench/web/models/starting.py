"""API models of a future run: its form and its draft."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from storebench.web.models.answers import Answer


class FormField(Answer):
    """A parameter of a run, as the form of the DAG has it."""

    name: str
    title: str
    text: str = Field(description="Markdown")
    default: Any = Field(description="None: it may stay empty")
    kind: Literal["list", "flag", "text"] = Field(description="A list is written with commas")
    examples: list[Any] = Field(description="Of a list: what may be in it, among others")


class Section(Answer):
    """Fields that belong together."""

    title: str
    fields: list[FormField]


class Preset(Answer):
    """Parameters that have a name together."""

    name: str
    description: str
    params: dict[str, Any]


class Form(Answer):
    """The form of a study's run."""

    sections: list[Section]
    presets: list[Preset]


class Mistake(Answer):
    """Why the plan would refuse the run."""

    parameter: str | None = Field(description="None: it is of several together")
    text: str


class DraftCell(Answer):
    """A cell that the run would come to."""

    key: str
    label: str
    repeats: int = Field(description="How often it would be measured; 0 where it is left out")
    skipped: str | None = Field(description="Why it is left out, if it is")


class Draft(Answer):
    """The plan of a run with the parameters. With mistakes, there are no cells."""

    mistakes: list[Mistake]
    cells: list[DraftCell] = Field(
        default=[], description="The first of them, in the order in which they were asked for"
    )
    cells_total: int = 0
    operations: int = 0
    unknown: int = Field(
        default=0, description="Of the operations, how many are like none that was measured before"
    )
    expected_s: float = Field(default=0, description="About how long they take, at least")
    expected_most_s: float = Field(default=0, description="And at most; the same where it is no range")
    may_end_earlier: bool = Field(default=False, description="A precision or a budget may end it")
    dropped: int = Field(default=0, description="How many combinations are left out")
    dropped_because: str = ""
    conf: dict[str, Any] = Field(default={}, description="With which Airflow starts that run")
    may_start: bool = Field(description="Whether the user may start runs of the DAG")
