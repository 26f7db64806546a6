"""Compare two sides, and list the runs that would decide open comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from storebench.answers.comparisons import Comparison, comparison_answer
from storebench.answers.deciding import Deciding, Part
from storebench.results.comparison import deciding as decide
from storebench.results.comparison.compare import Comparison as Result
from storebench.results.comparison.compare import compare, compare_values
from storebench.results.comparison.sides import By, runs_named
from storebench.results.database.connection import Row
from storebench.results.statistics.verdicts import MARGIN
from storebench.version import code_version
from storebench.web.access import ReadingDep, StatesDep
from storebench.web.runs import runs_by_id

SideName = Annotated[
    str,
    Query(
        max_length=10_000,
        description="A run's id, here or in Airflow; 'latest'; 'baseline:NAME'; several with commas; 'turns:ID:A'",
    ),
]
Margin = Annotated[float, Query(ge=0, le=100)]
Metric = Annotated[str | None, Query(max_length=500)]
Values = Annotated[
    str | None,
    Query(
        max_length=500,
        description="PLACE=A,B, such as store=A,B: compare two values within `after`, which is then both sides",
    ),
]

router = APIRouter()


@dataclass(frozen=True)
class RequestedComparison:
    """A comparison that a request asks for: the runs of both sides, and the result. `by_value`: the sides are values of the same runs."""

    runs: tuple[list[Row], list[Row]]
    result: Result
    by_value: bool


def requested_comparison(
    read: ReadingDep,
    before: SideName,
    after: SideName,
    margin_percent: Margin = MARGIN * 100,
    metric: Metric = None,
    by: Values = None,
) -> RequestedComparison:
    """Compare the sides that the query parameters name. Raises SpecError for an unknown run, value or metric."""
    margin = margin_percent / 100
    if by:
        runs = runs_named(read, after)
        result = compare_values(read, runs, By.of(by), margin=margin, metric=metric)
        return RequestedComparison((runs, runs), result, by_value=True)
    sides = runs_named(read, before), runs_named(read, after)
    result = compare(read, *sides, margin=margin, metric=metric)
    return RequestedComparison(sides, result, by_value=False)


RequestedDep = Annotated[RequestedComparison, Depends(requested_comparison)]


@router.get("/api/compare")
def compared(read: ReadingDep, states: StatesDep, requested: RequestedDep) -> Comparison:
    """Compare `after` with `before` cell by cell in the metric that ranks each operation, or in another metric, and list other
    differences between them.
    """
    run_ids = list(dict.fromkeys(run for side in requested.result.runs for run in side))
    return comparison_answer(read, requested.result, runs_by_id(read, states, run_ids))


@router.get("/api/deciding")
def deciding(read: ReadingDep, requested: RequestedDep) -> Deciding:
    """List the runs, in turns of both sides, that would decide the open pairs of a comparison."""
    dag_id = requested.runs[1][-1]["dag_id"]
    plan = decide.deciding(
        requested.result,
        requested.runs,
        code_version(),
        by_value=requested.by_value,
        values_of=read.study(dag_id).values_of,
    )
    return Deciding(
        dag_id=dag_id,
        pairs=plan.pairs,
        turns=plan.turns,
        most_turns=decide.MOST,
        parts=[Part.model_validate(vars(part)) for part in plan.parts],
        refused=plan.refused,
        hopeless=list(plan.hopeless),
        notes=list(plan.notes),
    )
