"""API models of a study's claims."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storebench.web.models.answers import Answer

Label = Literal["confirmed", "refuted", "cannot tell"]


class ClaimCase(Answer):
    """One comparison of a claim: the ratio of B's figure to A's."""

    ratio_of: str = Field(description="The metric, and the sides B and A")
    case: str = Field(description="What distinguishes this case from the claim's other cases")
    verdict: Label
    reason: str | None = Field(description="Why the case is inconclusive")
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    low: float | None
    high: float | None
    n: str = Field(description="Number of rounds, runs or repeats; empty if nothing could be compared")
    rows: int | None
    runs: list[str]
    remarks: list[str] = Field(description="Unsound attempts, and limits of the comparison")


class Claim(Answer):
    """A sentence of the original study, and whether the measurements confirm the sentence."""

    text: str
    means: str = Field(description="The ratios that the text stands for")
    metric: str | None
    verdict: Label
    reason: str | None
    note: str = Field(description="Limits of the comparison")
    cases: list[ClaimCase]


class Claims(Answer):
    """The claims in a study's file as of the start of the study's last run."""

    study: str
    rules: str = Field(description="The rules by which claims are judged")
    claims: list[Claim]
