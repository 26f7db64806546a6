"""Build the answer about a plan of repeats."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from storebench.answers.base import Answer
from storebench.answers.figures import named
from storebench.answers.studies import CellName
from storebench.results.comparison.repeats import Plan
from storebench.results.statistics.power import POWER


class PlannedOperation(CellName):
    """The measured noise of a cell's operation, and the units that the operation needs."""

    operation: str
    metric: str
    n: int = Field(description="Number of measured units of side A")
    noise: float | None = Field(
        description="Standard deviation of the logarithm of a unit's figure; None if unknown"
    )
    units_needed: int | None = Field(description="Number of units on each side; None if unknown or too many")


class RepeatPlan(Answer):
    """The number of units on each side that detects a difference in all operations with known noise."""

    units_needed: int | None = Field(description="None: more than the largest number that is computed")
    units: str = Field(description="The unit that counts once: repeats, rounds, turns or runs")
    difference_percent: float
    margin_percent: float
    power: float = Field(description="The chance to detect the difference")
    pairs: int = Field(description="Number of pairs of cell and operation in the planned comparison")
    operations: list[PlannedOperation]
    caution: str | None


def plan_answer(plan: Plan) -> RepeatPlan:
    """Build the answer about a plan of repeats."""
    return RepeatPlan.model_validate(
        {
            **vars(plan),
            "difference_percent": round(plan.difference * 100, 6),
            "margin_percent": round(plan.margin * 100, 6),
            "power": POWER,
            "operations": [_operation(vars(needed)) for needed in plan.cells],
        }
    )


def _operation(needed: dict[str, Any]) -> dict[str, Any]:
    return {**named(needed["cell_key"]), **needed}
