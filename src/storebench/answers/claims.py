"""Build the answer about a study's claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from storebench.answers.base import Answer
from storebench.results.comparison.claims import Case, Judged, judged_claims, runs_of
from storebench.results.database.queries import Queries
from storebench.results.statistics.intervals import CONFIDENCE
from storebench.results.statistics.verdicts import MIN_UNITS

Label = Literal["confirmed", "refuted", "cannot tell"]


class ClaimCase(Answer):
    """One comparison of a claim: the ratio of B's figure to A's."""

    ratio_of: str = Field(description="The metric, and the sides B and A")
    a: str = Field(description="Side A: store, client, operation, or values on axes")
    b: str
    case: str = Field(description="What distinguishes this case from the claim's other cases")
    verdict: Label
    reason: str | None = Field(description="Why the case is inconclusive")
    median_before: float | None = Field(description="Median of side A; None if nothing could be compared")
    median_after: float | None = Field(description="Median of side B")
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    ratio_low: float | None = Field(description="Lower bound of the ratio's 95 % interval")
    ratio_high: float | None
    units: str = Field(description="The unit that counts once: rounds, runs or repeats")
    matched: bool = Field(description="The n-th units of both sides belong together")
    units_before: int | None = Field(
        description="Number of units on side A; None if nothing could be compared"
    )
    units_after: int | None
    rows: int | None
    runs: list[str]
    remarks: list[str] = Field(description="Unsound attempts, and limits of the comparison")


class Claim(Answer):
    """A sentence of the original study, and whether the measurements confirm the sentence."""

    text: str
    expected_ratio: str = Field(description="The ratios that the text stands for, such as `at least 2`")
    at_least: float | None = Field(description="Bounds of these ratios; None for no bound")
    at_most: float | None
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


def study_claims_answer(queries: Queries, study: str, runs: Sequence[str] = ()) -> Claims:
    """Judge the recorded claims of a study by these runs, or by all runs. Raises SpecError for an unknown study or run."""
    record = queries.study(study)
    judged = judged_claims(queries, record, runs_of(queries, runs, study)) if record.claims else []
    return claims_answer(study, judged)


def claims_answer(study: str, judged: Sequence[Judged]) -> Claims:
    """Build the answer about a study's judged claims."""
    return Claims(study=study, rules=rules(), claims=[_claim(claim) for claim in judged])


def _claim(judged: Judged) -> Claim:
    claim = judged.claim
    return Claim(
        text=claim.text,
        expected_ratio=expected_ratio(judged),
        at_least=claim.at_least,
        at_most=claim.at_most,
        metric=judged.metric.name if judged.metric else None,
        verdict=judged.label,  # type: ignore[arg-type] # Pydantic checks the label
        reason=judged.reason,
        note=claim.note,
        cases=[ClaimCase.model_validate(_case(judged, case)) for case in judged.cases],
    )


def _case(judged: Judged, case: Case) -> dict[str, Any]:
    verdict = case.verdict
    interval = verdict.interval if verdict else None
    names = ("median_before", "median_after", "ratio", "units_before", "units_after")
    return {
        **vars(case),
        **{name: getattr(verdict, name, None) for name in names},
        "ratio_of": ratio_text(judged, case),
        "case": places_text([case]),
        "verdict": case.label,
        "ratio_low": interval.low if interval else None,
        "ratio_high": interval.high if interval else None,
    }


def rules() -> str:
    """Return a sentence about how claims are judged."""
    return (
        f"confirmed: the whole {CONFIDENCE:.0%} interval of B / A lies in the region that the text means; refuted: the whole interval lies"
        f" outside; both after the correction for all cases (Benjamini-Hochberg), from {MIN_UNITS} rounds on"
    )


def places_text(cases: Sequence[Case]) -> str:
    """Format the places that distinguish cases from the claim's other cases: `benchmark=wide, narrow`."""
    if len(names := {name for case in cases for name in case.places}) == 1:
        (name,) = names
        return (
            f"{name}={', '.join(dict.fromkeys(case.places[name] for case in cases if name in case.places))}"
        )
    texts = (" ".join(f"{name}={value}" for name, value in case.places.items()) for case in cases)
    return ", ".join(filter(None, dict.fromkeys(texts)))


def ratio_text(judged: Judged, case: Case) -> str:
    """Format the ratio B / A of a case, with its metric."""
    title = f"{judged.metric.title}: " if judged.metric else ""
    return f"{title}{case.b} / {case.a}"


def expected_ratio(judged: Judged) -> str:
    """Describe the region of ratios of a claim."""
    low, high = judged.claim.at_least, judged.claim.at_most
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"at least {low:g}"
    return "" if high is None else f"at most {high:g}"
