"""Build the answer about a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from storebench.answers.attempts import Origin
from storebench.answers.base import Answer
from storebench.answers.figures import Origins, named, scalar_metrics
from storebench.answers.runs import Run
from storebench.answers.studies import CellName
from storebench.answers.why import Why, why_answer
from storebench.results.comparison import compare as domain
from storebench.results.comparison.sides import Key
from storebench.results.comparison.why import why
from storebench.results.database.queries import Queries
from storebench.results.statistics import verdicts
from storebench.study.model import Better, Metric


class Compared(CellName):
    """One cell's operation on both sides. The fields of CellName name A's cell."""

    operation: str
    cell_key_after: str | None = Field(
        description="The key of B's cell, which differs where two cells, or two values of a run, are compared; None if B has no attempt"
    )
    origin_before: Origin
    origin_after: Origin
    remarks: list[str] = Field(
        description="What is unsound: attempts that failed, were disturbed, not judged, client-bound or service-bound; sides of different durability"
    )


class Verdict(Compared):
    """The verdict on a cell's operation: B relative to A."""

    verdict: Literal["better", "worse", "higher", "lower", "the same", "cannot tell"] = Field(
        description="`higher` and `lower` are for metrics without a better direction"
    )
    metric: str | None
    unit: str | None
    better: Better
    reason: str | None = Field(
        description="Why the verdict is inconclusive, and how many repeats would suffice"
    )
    n_before: int
    n_after: int
    units_before: int = Field(description="Number of independent units on side A: see `units`")
    units_after: int
    units_needed: int | None = Field(
        description="The number of units on each side that would probably decide; None if decided or unknown"
    )
    median_before: float
    median_after: float
    mean_before: float | None = Field(
        description="Geometric mean of A's repeats without the lowest and the highest tenth; None if a figure is 0 or below"
    )
    mean_after: float | None = Field(description="Geometric mean of B's repeats, as `mean_before`")
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    ratio_low: float | None = Field(description="Lower bound of the ratio's 95 % interval")
    ratio_high: float | None
    noise: float | None = Field(
        description="Standard deviation of the logarithm of a unit's figure; of matched units, of the difference within a pair"
    )
    p: float | None
    p_adjusted: float | None
    why: Why | None = Field(
        description="What goes along with the difference; None for `the same` and `cannot tell`"
    )


class NoVerdict(Compared):
    """A cell's operation without a verdict."""

    reason: str


class Comparison(Answer):
    """Two sides, compared cell by cell, and other differences between the sides. A side is one or more runs; two values of a run share the run."""

    before: list[Run]
    after: list[Run]
    verdicts: list[Verdict]
    no_verdict: list[NoVerdict]
    units: str = Field(description="The unit that counts once: repeats, rounds, turns or runs")
    matched: bool = Field(description="The n-th units of both sides belong together")
    differences: list[str]
    test: str
    margin_percent: float
    caution: str | None = Field(description="The limits of the comparison, whatever its verdicts")
    running: list[str] = Field(description="Names of the sides' runs that have not ended")
    metrics: list[Metric] = Field(
        description="The metrics that the sides can be compared by: metrics of operations that both sides planned"
    )


def comparison_answer(
    queries: Queries, comparison: domain.Comparison, runs: Mapping[str, Run] | None = None
) -> Comparison:
    """Build the answer about a comparison. `runs`: the runs of the sides by ID; None: read them."""
    known = _runs_of(queries, comparison) if runs is None else runs
    before, after = ([known[run] for run in side] for side in comparison.runs)
    sides = _Sides(queries, comparison)
    along = {key: why_answer(found) for key, found in why(queries, comparison).items()}
    return Comparison(
        before=before,
        after=after,
        verdicts=[
            Verdict.model_validate(
                {
                    **sides.of(key),
                    **comparison.measured[key],
                    **_fields_of(verdict),
                    "why": along.get(key),
                },
            )
            for key, verdict in comparison.verdicts.items()
        ],
        no_verdict=[
            NoVerdict.model_validate({**sides.of(key), "reason": reason})
            for key, reason in comparison.without.items()
        ],
        units=comparison.design.units,
        matched=comparison.design.matched,
        differences=comparison.differences,
        test=verdicts.TEST,
        margin_percent=round(comparison.margin * 100, 6),
        caution=comparison.design.caution,
        running=list(comparison.going_on),
        metrics=_metrics_of(queries, comparison),
    )


def _metrics_of(queries: Queries, comparison: domain.Comparison) -> list[Metric]:
    before, after = (queries.operations_of_runs(side) for side in comparison.runs)
    return scalar_metrics(queries, before & after)


def _runs_of(queries: Queries, comparison: domain.Comparison) -> dict[str, Run]:
    run_ids = list(dict.fromkeys(run for side in comparison.runs for run in side))
    return {row["id"]: Run.model_validate(row) for row in queries.runs_counted(run_ids)}


def _fields_of(verdict: verdicts.Verdict) -> dict[str, Any]:
    interval, noise = verdict.interval, verdict.noise
    return {
        **vars(verdict),
        "verdict": verdict.label,
        "units_needed": verdict.enough,
        "ratio_low": interval.low if interval else None,
        "ratio_high": interval.high if interval else None,
        "noise": noise.deviation if noise else None,
    }


class _Sides:
    """Describe the operations of a comparison's cells, with or without a verdict."""

    def __init__(self, queries: Queries, comparison: domain.Comparison) -> None:
        self._origins = Origins(
            queries.machines(row for side in comparison.attempts for rows in side.values() for row in rows)
        )
        self._comparison = comparison
        keys = [before for before, _ in comparison.cells.values()]
        self._axes = queries.axes_of(keys)

    def of(self, key: Key) -> dict[str, Any]:
        """Return the fields of Compared."""
        before, after = (self._origins.of(side.get(key, ())) for side in self._comparison.attempts)
        cell_before, cell_after = self._comparison.cells[key]
        return {
            **named(cell_before, self._axes[cell_before]),
            "operation": key[1],
            "cell_key_after": cell_after,
            "remarks": self._comparison.remarks[key],
            "origin_before": before,
            "origin_after": after,
        }
