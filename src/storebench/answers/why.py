"""Build the answer about what goes along with a verdict."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storebench.answers.base import Answer
from storebench.results.comparison import why as domain


class Differing(Answer):
    """A setting or a version that differs between the sides. Nothing measures how much the setting matters."""

    name: str
    before: list[str]
    after: list[str]


class Along(Answer):
    """A figure that differs together with the verdict's metric."""

    kind: Literal["phase", "pods", "counter", "function"] = Field(
        description="`phase`: a phase of the attempt. `pods`: CPU time, or bytes, of the attempt's pods. `counter`: what the server reported."
        " `function`: time in a function itself, by profiles"
    )
    name: str
    unit: str = Field(description="s, bytes, ratio; empty for a plain number")
    ratio: float | None = Field(
        description="Geometric mean B / geometric mean A, as of the metric; None if the figure is 0 in a unit, or not tested"
    )
    ratio_low: float | None = Field(description="Lower bound of the ratio's 95 % interval")
    ratio_high: float | None
    median_before: float
    median_after: float
    share: float | None = Field(
        description="The share of the metric's difference that the difference of these seconds covers, at most 1; None for other figures"
    )
    p_adjusted: float | None
    seen_in: int | None = Field(
        description="Number of profiles of both sides that are too few for a test; None for a tested figure"
    )


class Why(Answer):
    """The differences that go along with a verdict. No cause is claimed."""

    differences: list[Differing]
    figures: list[Along] = Field(
        description="By how much of the difference each may explain, largest first; then functions that are not tested"
    )
    looked_at: int = Field(description="Number of figures that were tested together")
    too_few: int = Field(description="Number of figures that were measured in too few units for a test")


def why_answer(found: domain.Why) -> Why:
    """Build the answer about one verdict."""
    return Why(
        differences=[
            Differing(name=one.name, before=list(one.before), after=list(one.after))
            for one in found.differences
        ],
        figures=[
            Along(
                **figure._asdict(),
                ratio=one.ratio,
                ratio_low=one.interval.low if one.interval else None,
                ratio_high=one.interval.high if one.interval else None,
                median_before=one.median_before,
                median_after=one.median_after,
                share=one.share,
                p_adjusted=one.p_adjusted,
                seen_in=one.seen_in,
            )
            for figure, one in found.figures.items()
        ],
        looked_at=found.looked_at,
        too_few=found.too_few,
    )
