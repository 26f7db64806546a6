"""Models of studies and cell names."""

from __future__ import annotations

from pydantic import Field

from storebench.answers.base import Answer
from storebench.study.claim import Claim
from storebench.study.model import COMMON, Metric
from storebench.study.record import PresetRecord, StudyRecord


class Study(StudyRecord):
    """A study as of its last run, without presets and claims, which have endpoints of their own."""

    common: tuple[Metric, ...] = Field(
        default_factory=lambda: COMMON, description="The metrics of all studies"
    )
    presets: tuple[PresetRecord, ...] = Field(default=(), exclude=True)
    claims: tuple[Claim, ...] = Field(default=(), exclude=True)
    default_stores: tuple[str, ...] = Field(default=(), exclude=True)  # the form's default has them


class CellName(Answer):
    """The name of a cell."""

    cell_key: str
    study: str
    store: str
    client: str
    axes: dict[str, str] = Field(description="The cell's value on each axis that applies to it")
    rows: int
    seed: int
