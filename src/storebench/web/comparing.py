"""Two sides beside one another, and what would decide between them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from storebench.results import deciding as decide
from storebench.results.compare import Comparison as Found
from storebench.results.compare import compare, compare_values
from storebench.results.database import Row
from storebench.results.sides import By, runs_named
from storebench.results.stopped import RunStates
from storebench.results.verdicts import MARGIN, TEST
from storebench.version import code_version
from storebench.web import figures
from storebench.web.access import ReadingDep, StatesDep
from storebench.web.models.comparisons import Comparison, Verdict, Without
from storebench.web.models.deciding import Deciding, Part
from storebench.web.models.runs import Run
from storebench.web.reading import Reading
from storebench.web.runs import run_by_id

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
        description="PLACE=A,B, such as store=A,B: two values of `after`, which is then both sides",
    ),
]

router = APIRouter()


@router.get("/api/compare")
def compared(
    read: ReadingDep,
    states: StatesDep,
    before: SideName,
    after: SideName,
    margin_percent: Margin = MARGIN * 100,
    metric: Metric = None,
    by: Values = None,
) -> Comparison:
    """Whether `after` is better or worse than `before`, cell by cell, and what else differs between them; by the metric that ranks
    each operation, or another one.
    """
    sides = _runs_of(read, states, before, after, by)
    found = _found(read, sides, margin_percent, metric, by)
    compared = _Sides(read, found)
    return Comparison(
        before=sides[0],
        after=sides[1],
        verdicts=[
            Verdict.model_validate(
                {
                    **compared.told(cell, operation),
                    **found.measured[cell, operation],
                    **vars(verdict),
                    "low": verdict.interval.low if verdict.interval else None,
                    "high": verdict.interval.high if verdict.interval else None,
                }
            )
            for (cell, operation), verdict in found.verdicts.items()
        ],
        without=[
            Without.model_validate({**compared.told(cell, operation), "reason": reason})
            for (cell, operation), reason in found.without.items()
        ],
        units=found.design.units,
        differences=found.differences,
        test=TEST,
        margin_percent=margin_percent,
        caution=found.design.caution,
    )


@router.get("/api/deciding")
def deciding(
    read: ReadingDep,
    states: StatesDep,
    before: SideName,
    after: SideName,
    margin_percent: Margin = MARGIN * 100,
    metric: Metric = None,
    by: Values = None,
) -> Deciding:
    """Which runs, in turns of both sides, would decide what a comparison cannot tell."""
    sides = _runs_of(read, states, before, after, by)
    found = _found(read, sides, margin_percent, metric, by)
    rows = [[run.model_dump() for run in side] for side in sides]
    what = decide.deciding(found, (rows[0], rows[1]), code_version(), by_value=by is not None)
    return Deciding(
        dag_id=sides[1][-1].dag_id,
        pairs=what.pairs,
        turns=what.turns,
        most_turns=decide.MOST,
        parts=[Part.model_validate(vars(one)) for one in what.parts],
        refused=what.refused,
        hopeless=list(what.hopeless),
        notes=list(what.notes),
    )


def _runs_of(
    read: Reading, states: RunStates, before: str, after: str, by: str | None
) -> tuple[list[Run], list[Run]]:
    first, second = (
        [run_by_id(read, states, row["id"]) for row in runs_named(read, name)]
        for name in (after if by else before, after)
    )
    return first, second


def _found(
    read: Reading,
    sides: tuple[list[Run], list[Run]],
    margin_percent: float,
    metric: str | None,
    by: str | None,
) -> Found:
    before, after = (",".join(run.id for run in side) for side in sides)
    margin = margin_percent / 100
    if by:
        return compare_values(read, after, By.of(by), margin=margin, metric=metric)
    return compare(read, before, after, margin=margin, metric=metric)


class _Sides:
    """What is told of the cells of a comparison, with a verdict or without."""

    def __init__(self, read: Reading, found: Found) -> None:
        rows = read.on_machines(row for side in found.attempts for some in side.values() for row in some)
        self._attempts = {row["attempt_id"]: row for row in rows}
        self._found = found

    def told(self, cell_key: str, operation: str) -> Row:
        """Of one cell's operation."""
        key = cell_key, operation
        before, after = (
            figures.origin_of([self._attempts[row["attempt_id"]] for row in side.get(key, ())])
            for side in self._found.attempts
        )
        return {
            **figures.named(cell_key),
            "operation": operation,
            "remarks": self._found.remarks[key],
            "origin_before": before,
            "origin_after": after,
        }
