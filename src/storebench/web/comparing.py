"""Compare two sides, and list the runs that would decide open comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from storebench.results import deciding as decide
from storebench.results.compare import Comparison as Found
from storebench.results.compare import compare, compare_values
from storebench.results.database import Row
from storebench.results.sides import By, runs_named
from storebench.results.verdicts import MARGIN, TEST
from storebench.version import code_version
from storebench.web import figures
from storebench.web.access import ReadingDep, StatesDep
from storebench.web.models.comparisons import Comparison, Verdict, Without
from storebench.web.models.deciding import Deciding, Part
from storebench.web.reading import Reading
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
class Asked:
    """The requested comparison: the runs of both sides, and the result. `by_value`: the sides are values of the same runs."""

    runs: tuple[list[Row], list[Row]]
    found: Found
    margin_percent: float
    by_value: bool


def asked(
    read: ReadingDep,
    before: SideName,
    after: SideName,
    margin_percent: Margin = MARGIN * 100,
    metric: Metric = None,
    by: Values = None,
) -> Asked:
    """Compare the sides that the query parameters name. Raises SpecError for an unknown run, value or metric."""
    margin = margin_percent / 100
    if by:
        runs = runs_named(read, after)
        found = compare_values(read, runs, By.of(by), margin=margin, metric=metric)
        return Asked((runs, runs), found, margin_percent, by_value=True)
    sides = runs_named(read, before), runs_named(read, after)
    found = compare(read, *sides, margin=margin, metric=metric)
    return Asked(sides, found, margin_percent, by_value=False)


AskedDep = Annotated[Asked, Depends(asked)]


@router.get("/api/compare")
def compared(read: ReadingDep, states: StatesDep, what: AskedDep) -> Comparison:
    """Compare `after` with `before` cell by cell in the metric that ranks each operation, or in another metric, and list other
    differences between them.
    """
    found = what.found
    compared = _Sides(read, found)
    known = runs_by_id(read, states, [run["id"] for side in what.runs for run in side])
    before, after = ([known[run["id"]] for run in side] for side in what.runs)
    return Comparison(
        before=before,
        after=after,
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
        margin_percent=what.margin_percent,
        caution=found.design.caution,
    )


@router.get("/api/deciding")
def deciding(what: AskedDep) -> Deciding:
    """List the runs, in turns of both sides, that would decide the open pairs of a comparison."""
    found = decide.deciding(what.found, what.runs, code_version(), by_value=what.by_value)
    return Deciding(
        dag_id=what.runs[1][-1]["dag_id"],
        pairs=found.pairs,
        turns=found.turns,
        most_turns=decide.MOST,
        parts=[Part.model_validate(vars(one)) for one in found.parts],
        refused=found.refused,
        hopeless=list(found.hopeless),
        notes=list(found.notes),
    )


class _Sides:
    """Describe the cells of a comparison, with or without a verdict."""

    def __init__(self, read: Reading, found: Found) -> None:
        self._origins = figures.Origins(
            read.machines(row for side in found.attempts for some in side.values() for row in some)
        )
        self._found = found

    def told(self, cell_key: str, operation: str) -> Row:
        """Return the description of a cell's operation."""
        key = cell_key, operation
        before, after = (self._origins.of(side.get(key, ())) for side in self._found.attempts)
        return {
            **figures.named(cell_key),
            "operation": operation,
            "remarks": self._found.remarks[key],
            "origin_before": before,
            "origin_after": after,
        }
