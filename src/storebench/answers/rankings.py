"""Build the answer about a ranking."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, get_args

from pydantic import Field

from storebench.answers.attempts import Origin, Spread
from storebench.answers.base import Answer
from storebench.answers.figures import Origins, named, spread_of
from storebench.answers.studies import CellName
from storebench.results.database.queries import Queries
from storebench.results.ranking import rank as domain
from storebench.results.ranking.exclusion import Measured
from storebench.results.statistics.verdicts import TEST
from storebench.study.model import Better

Included = Literal["floor", "client-bound", "service-bound", "unlike"]
BEST: Literal["the best"] = "the best"


class MeasuredCell(CellName):
    """The figures of a cell's operation in the chosen environment, over all runs."""

    spread: Spread | None = Field(
        description="Median and interval in the metric's unit; None if no attempt counts"
    )
    runs: int = Field(description="Number of runs with attempts of the cell")
    guarantee: str | None = Field(
        description="What the operation hands to the program, or else the durability that the store guarantees"
    )
    environment_hash: str | None = Field(
        description="Hash of the cell's server, image and machine, which may change"
    )
    parameters_hash: str | None
    method_version: int | None
    origin: Origin


class Difference(Answer):
    """How a ranked cell differs from most cells; `few`: too few attempts for an interval."""

    reason: Literal["floor", "client-bound", "service-bound", "unlike", "few"]
    text: str


class RankedCell(MeasuredCell):
    """A ranked cell. A is the best cell, B is this cell."""

    place: int = Field(
        description="The cell's place, shared by cells that do not differ from the first cell of the place"
    )
    verdict: Literal["the best", "better", "worse", "the same", "cannot tell"]
    reason: str | None = Field(
        description="Why the verdict is inconclusive, and how many repeats would suffice"
    )
    relative_to_best: float | None = Field(
        description="The cell's median / the best cell's median, or the reciprocal where higher is better; None if either median is 0 or below"
    )
    ratio: float | None = Field(description="Geometric mean B / geometric mean A")
    ratio_low: float | None = Field(description="Lower bound of the ratio's 95 % interval")
    ratio_high: float | None
    differences: list[Difference] = Field(
        description="How the cell differs from most cells: these may be excluded by `alike`"
    )
    remarks: list[str] = Field(
        description="What is unsound about the cell's attempts, and how many attempts of the best cell were not judged"
    )


class Exclusion(Answer):
    """A reason to exclude a cell."""

    reason: Literal[
        "floor",
        "client-bound",
        "service-bound",
        "unlike",
        "disturbed",
        "not verified",
        "not reported",
        "elsewhere",
    ]
    text: str


class ExcludedCell(MeasuredCell):
    """An excluded cell."""

    reasons: list[Exclusion]


class RankedDataset(Answer):
    """A dataset with results."""

    rows: int
    seed: int


class RankedEnvironment(Answer):
    """The conditions of cells' measurements."""

    id: str
    text: str
    cells: int
    newest_at: datetime


class Ranking(Answer):
    """A ranking of a study's cells by one metric of an operation, with all choices, including defaults."""

    study: str
    studies: list[str] = Field(description="The studies that the user may see")
    operation: str
    metric: str
    title: str
    unit: str
    better: Better
    rows: int
    seed: int
    datasets: list[RankedDataset]
    axes: dict[str, str] = Field(description="The chosen value of each axis; * for all values")
    offered: dict[str, list[str]] = Field(
        description="The values of each axis, among cells with the chosen values of the preceding axes"
    )
    environment: str | None = Field(description="The chosen environment; None if no attempt counts")
    environments: list[RankedEnvironment]
    guarantee: str | None = Field(
        description="The guarantee of all ranked cells; None if cells with any guarantee are ranked"
    )
    guarantees: list[str] = Field(description="The guarantees of the cells, the most frequent first")
    included: list[Included]
    alike: bool = Field(description="Whether cells that differ from most cells are excluded")
    margin_percent: float
    ranked: list[RankedCell]
    excluded: list[ExcludedCell]
    test: str
    caution: str | None = Field(description="The limits of the verdicts")


def ranking_answer(queries: Queries, ranking: domain.Ranking) -> Ranking:
    """Build the answer about a ranking, with the names of the studies that `queries` may read."""
    question, metric, chosen = ranking.question, ranking.metric, ranking.chosen
    measured = [line.measured for line in ranking.lines] + [cell.measured for cell in ranking.excluded]
    origins = Origins(queries.machines(row for cell in measured for row in cell.rows))
    return Ranking(
        study=question.study,
        studies=queries.study_names(),
        operation=str(question.operation),
        metric=metric.name,
        title=metric.title,
        unit=metric.unit,
        better=metric.better,
        rows=chosen.rows,
        seed=chosen.seed,
        datasets=[RankedDataset(rows=rows, seed=seed) for rows, seed in chosen.datasets],
        axes=dict(chosen.axes),
        offered={name: list(values) for name, values in chosen.offered.items()},
        environment=question.conditions,
        environments=[
            RankedEnvironment.model_validate(vars(environment)) for environment in ranking.environments
        ],
        guarantee=question.guarantee,
        guarantees=list(ranking.guarantees),
        included=[reason for reason in get_args(Included) if reason in question.included],
        alike=question.alike,
        margin_percent=round(question.margin * 100, 6),
        ranked=[
            RankedCell.model_validate({**_cell(ranking, line.measured, origins), **_comparison(line)})
            for line in ranking.lines
        ],
        excluded=[
            ExcludedCell(
                **_cell(ranking, cell.measured, origins),
                reasons=[Exclusion.model_validate(vars(reason)) for reason in cell.reasons],
            )
            for cell in ranking.excluded
        ],
        test=TEST,
        caution=ranking.caution,
    )


def _cell(ranking: domain.Ranking, measured: Measured, origins: Origins) -> dict[str, Any]:
    """Return the fields of MeasuredCell."""
    first = next(iter(measured.counted if measured.summary else ()), {})
    return {
        **named(measured.cell.key, ranking.study.values_of(measured.cell)),
        "spread": measured.summary and spread_of(measured.summary),
        "runs": len(measured.runs),
        "guarantee": measured.guarantee,
        **{name: first.get(name) for name in ("environment_hash", "parameters_hash", "method_version")},
        "origin": origins.of(measured.rows),
    }


def _comparison(line: domain.Line) -> dict[str, Any]:
    """Return the place of a ranked cell, and its comparison with the best cell."""
    against = line.against
    verdict = against.verdict if against else None
    interval = verdict.interval if verdict else None
    return {
        "place": line.place,
        "verdict": against.label if against else BEST,
        "reason": against.reason if against else None,
        "relative_to_best": against.relative_to_best if against else 1.0,
        "ratio": verdict.ratio if verdict else None,
        "ratio_low": interval.low if interval else None,
        "ratio_high": interval.high if interval else None,
        "differences": [vars(difference) for difference in line.differences],
        "remarks": list(line.remarks),
    }
