"""Rank the stores and clients of a study by a metric of an operation, from all runs in the same environment.

Cells that cannot be ranked fairly are excluded with the reason. Cells that may be equal to the best cell share its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from storebench.errors import SpecError, unknown
from storebench.results.comparison.compare import NOT_JUDGED, unsound
from storebench.results.comparison.sides import Design, Side, Sides, design_of_cells, of_one_cell
from storebench.results.database.connection import Row
from storebench.results.database.measurements import metrics_of, scalars_of
from storebench.results.database.queries import Queries
from storebench.results.ranking.choice import Chosen, Known, Question, choose
from storebench.results.ranking.exclusion import (
    INCLUDED,
    Environment,
    Environments,
    Exclusion,
    Measured,
    guarantees_of,
    is_limit,
    unfair,
    unlike,
)
from storebench.results.statistics import power
from storebench.results.statistics.intervals import Summary
from storebench.results.statistics.verdicts import CANNOT_TELL, Pair, Verdict, verdicts_of
from storebench.study.cell import Cell
from storebench.study.model import Metric
from storebench.study.record import StudyRecord


@dataclass(frozen=True)
class Against:
    """The comparison of a cell with the best cell, which is side A of `verdict`. `verdict`: None without common units; `reason` says why.

    `relative_to_best`: the cell's median relative to the best median, inverted if higher is better; None if a median is not positive.
    """

    label: str
    reason: str | None
    verdict: Verdict | None
    relative_to_best: float | None
    caution: str | None  # a possible error that the design does not exclude


@dataclass(frozen=True)
class Line:
    """A ranked cell. `against`: None for the best cell. `remarks`: about unsound attempts of the cell, and about attempts of the best cell
    that were not judged.
    """

    place: int
    measured: Measured
    took: Summary
    against: Against | None
    remarks: Sequence[str]


@dataclass(frozen=True)
class Excluded:
    """An excluded cell with the reasons."""

    measured: Measured
    reasons: Sequence[Exclusion]


@dataclass(frozen=True)
class Ranking:
    """A ranking. `question`: with all chosen values. `guarantees`: deliveries or durabilities of the cells, the most frequent first."""

    question: Question
    metric: Metric
    chosen: Chosen
    environments: Sequence[Environment]
    guarantees: Sequence[str]
    lines: Sequence[Line]
    excluded: Sequence[Excluded]

    @property
    def caution(self) -> str | None:
        """Return the caution about the verdicts, or None."""
        return next((one.against.caution for one in self.lines if one.against and one.against.caution), None)


def ranking_of(queries: Queries, asked: Question) -> Ranking:
    """Rank the cells of a study. Raises SpecError for values that the study does not have, and for a metric that cannot rank."""
    study = queries.study(asked.study)
    operation, metric = _by(study, asked)
    known = [
        Known(Cell.from_key(row["key"]), row["measured"])
        for row in queries.cells_of_study(asked.study, operation)
    ]
    chosen = choose(study, known, asked)
    rows = queries.compared_at([cell.key for cell in chosen.cells], operation, metric)
    environments = queries.environments({row["environment_hash"] for row in rows if row["environment_hash"]})
    return rank(study, replace(asked, operation=operation, metric=metric), chosen, rows, environments)


def _by(study: StudyRecord, asked: Question) -> tuple[str, str]:
    """Return the operation and the metric to rank by."""
    operations = [one.name for one in study.operations]
    operation = asked.operation or operations[0]
    if operation not in operations:
        raise unknown("operation", operation, operations)
    scalars = scalars_of(study, operation)
    metric = asked.metric or scalars[0]
    if metric not in scalars:
        raise unknown("metric", metric, scalars)
    metrics = metrics_of(study)
    if metrics[metric].better == "neither":
        ranking = [name for name in scalars if metrics[name].better != "neither"]
        raise SpecError(f"Neither way is better of {metric}: rank by {', '.join(ranking)}")
    for reason in asked.included:
        if reason not in INCLUDED:
            raise unknown("reason", reason, INCLUDED)
    return operation, metric


def rank(
    study: StudyRecord,
    question: Question,
    chosen: Chosen,
    rows: Sequence[Row],
    environments: Mapping[str, Mapping[str, Any]],
) -> Ranking:
    """Rank the chosen cells by the question's metric.

    `rows`: the newest tries of the cells' operation from `compared_at`. `environments`: details of their environments by hash. Raises
    SpecError for an unknown environment or guarantee.
    """
    metric = metrics_of(study)[str(question.metric)]
    for row in rows:
        row["better"] = metric.better
    known = Environments(study, rows, environments)
    there = known.chosen(question.conditions)
    measured = [known.measured(cell, there, by_cover=metric.by_cover) for cell in chosen.cells]
    exclusions = {one.cell: [why] if (why := known.missing(one)) else unfair(study, one) for one in measured}

    def ranks(one: Measured) -> bool:
        return all(why.reason in question.included for why in exclusions[one.cell])

    some = _in_order(measured, metric)
    # among equally frequent guarantees, the guarantee of the best cell comes first
    guarantees = [
        guarantee
        for guarantee, _ in guarantees_of(one for one in some if not exclusions[one.cell]).most_common()
    ]
    guarantees += [
        guarantee
        for guarantee in guarantees_of(one for one in some if not is_limit(study, one))
        if guarantee not in guarantees
    ]
    guarantee = question.guarantee or next(iter(guarantees), None)
    if guarantee is not None and guarantee not in guarantees:
        raise unknown("guarantee", guarantee, guarantees)
    for one in some:
        # a limit store delivers and guarantees nothing
        if not is_limit(study, one) and (why := unlike(one, guarantee)):
            exclusions[one.cell].append(why)
    excluded = [one for one in measured if not ranks(one)]
    return Ranking(
        replace(
            question,
            rows=chosen.rows,
            seed=chosen.seed,
            axes=chosen.axes,
            conditions=there.id if there else None,
            guarantee=guarantee,
        ),
        metric,
        chosen,
        known.known,
        guarantees,
        _lines([one for one in some if ranks(one)], question.margin),
        [Excluded(one, exclusions[one.cell]) for one in excluded],
    )


def _in_order(some: Iterable[Measured], metric: Metric) -> list[Measured]:
    """Return the cells with figures, the best median first."""
    sign = -1 if metric.better == "higher" else 1
    medians = [(sign * one.took.median, one) for one in some if one.took]
    return [one for _, one in sorted(medians, key=lambda pair: (pair[0], pair[1].cell.key))]


def _lines(some: Sequence[Measured], margin: float) -> list[Line]:
    """Assign places: a cell that cannot be told apart from the best remaining cell shares its place."""
    lines: list[Line] = []
    left = list(some)
    of_best: dict[Cell, Against] = {}
    doubts = [text for one in some[:1] for text in unsound(one.rows) if text.endswith(NOT_JUDGED)]
    against_best = [f"of the best, {text}" for text in doubts]
    while left:
        first, *others = left
        verdicts = _Verdicts.of(first, others, margin)
        if not lines:
            of_best = _explained(first, others, verdicts, margin)
        found = verdicts.found
        left = [one for one in others if one.cell in found and found[one.cell].is_worse]
        place = 1 + len(lines)
        lines += [
            Line(
                place,
                one,
                one.took,
                against := of_best.get(one.cell),
                unsound(one.rows) + (against_best if against else []),
            )
            for one in [first, *(one for one in others if one not in left)]
            if one.took
        ]
    return lines


@dataclass(frozen=True)
class _Verdicts:
    """Verdicts of cells against a better cell over all runs, with one correction for all comparisons."""

    found: Mapping[Cell, Verdict]
    without: Mapping[Cell, str]  # reasons of cells without a verdict
    designs: Mapping[Cell, Design]

    @classmethod
    def of(cls, first: Measured, others: Iterable[Measured], margin: float) -> _Verdicts:
        pairs: dict[Cell, Pair] = {}
        without: dict[Cell, str] = {}
        designs: dict[Cell, Design] = {}
        for one in others:
            sides = _sides(first, one)
            designs[one.cell] = sides.design
            found, reasons = sides.pairs()
            for pair in found.values():  # at most one pair: each side is a cell at one operation
                pairs[one.cell] = pair
            for reason in reasons.values():
                without[one.cell] = reason
        return cls(verdicts_of(pairs, margin=margin), without, designs)


def _explained(
    best: Measured, others: Sequence[Measured], verdicts: _Verdicts, margin: float
) -> dict[Cell, Against]:
    by_units = {
        units: power.explained(verdicts.found, units=units, margin=margin)
        for units in {design.units for design in verdicts.designs.values()}
    }
    found = {}
    for one in others:
        design = verdicts.designs[one.cell]
        verdict = by_units[design.units].get(one.cell)
        found[one.cell] = Against(
            verdict.label if verdict else CANNOT_TELL,
            verdict.reason if verdict else verdicts.without[one.cell],
            verdict,
            _relative_to_best(best, one),
            design.caution,
        )
    return found


def _sides(best: Measured, one: Measured) -> Sides:
    first, second = (Side(some.counted, some.runs, is_cell=True, pair_of=of_one_cell) for some in (best, one))
    return Sides(first, second, design_of_cells(first.runs, second.runs))


def _relative_to_best(best: Measured, one: Measured) -> float | None:
    assert best.took and one.took
    first, own = best.took.median, one.took.median
    if min(first, own) <= 0:
        return None
    return first / own if one.counted[0]["better"] == "higher" else own / first
