"""Answers of the page's API about a study's claims."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storebench.web.models.answers import Answer

Label = Literal["confirmed", "refuted", "cannot tell"]


class ClaimCase(Answer):
    """One comparison of a claim: the ratio of B's figure to A's."""

    ratio_of: str = Field(description="The metric, B and A")
    case: str = Field(description="What tells it from the claim's other cases")
    verdict: Label
    reason: str | None = Field(description="Why it cannot be told")
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    low: float | None
    high: float | None
    n: str = Field(description="Number of rounds, runs or repeats; empty if nothing could be compared")
    rows: int | None
    runs: list[str]
    remarks: list[str] = Field(description="What is unsound, and what the comparison leaves open")


class Claim(Answer):
    """A sentence of the original study, and whether what was measured confirms it."""

    text: str
    means: str = Field(description="The ratios that the text means")
    metric: str | None
    verdict: Label
    reason: str | None
    note: str = Field(description="Limits of the comparison")
    cases: list[ClaimCase]


class Claims(Answer):
    """The claims of a study, as its file stated them when a run of it last began."""

    study: str
    rules: str = Field(description="How they are judged")
    claims: list[Claim]
