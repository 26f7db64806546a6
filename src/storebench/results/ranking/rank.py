"""Rank the stores and clients of a study by a metric of an operation, from all runs in the same environment.

Each ranked cell lists how it differs from most cells. A question may exclude cells that differ. Cells that may be equal to the best cell share
its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from storebench.errors import SpecError, unknown
from storebench.results.comparison.compare import NOT_JUDGED, unsound
from storebench.results.comparison.sides import Side, Sides, design_of_cells, of_one_cell
from storebench.results.comparison.units import Design
from storebench.results.database.connection import Row
from storebench.results.database.measurements import metrics_of, scalars_of
from storebench.results.database.queries import Queries
from storebench.results.ranking.choice import Chosen, Known, Question, choose
from storebench.results.ranking.exclusion import (
    BOUND,
    INCLUDED,
    SERVICE_BOUND,
    UNLIKE,
    Environment,
    Environments,
    Exclusion,
    Measured,
    few,
    guarantees_of,
    is_floor,
    partly,
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
    """A ranked cell. `against`: None for the best cell. `differences`: how the cell differs from most cells. `unsound`: about unsound attempts
    of the cell. `unsound_best`: about attempts of the best cell that were not judged; empty for the best cell itself.
    """

    place: int
    measured: Measured
    summary: Summary
    against: Against | None
    differences: Sequence[Exclusion]
    unsound: Sequence[str]
    unsound_best: Sequence[str]

    @property
    def remarks(self) -> list[str]:
        """Return the remarks about attempts of the cell and of the best cell."""
        return [*self.unsound, *(f"of the best, {text}" for text in self.unsound_best)]


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
    study: StudyRecord

    @property
    def caution(self) -> str | None:
        """Return the caution about the verdicts, or None."""
        return next(
            (line.against.caution for line in self.lines if line.against and line.against.caution), None
        )


def ranking_of(queries: Queries, asked: Question) -> Ranking:
    """Rank the cells of a study, from all runs or from a single run. Raises SpecError for values that the study does not have, and for a metric that cannot rank."""
    study = queries.study(asked.study)
    operation, metric = _by(study, asked)
    if asked.run is None:
        cells = queries.cells_of_study(asked.study, operation, metric)
        # by default, the values at which most cells report the metric: some metrics are reported at a few values of an axis only
        measured_by = "reported" if any(row["reported"] for row in cells) else "measured"
        known = [Known(Cell.from_key(row["key"]), row[measured_by]) for row in cells]
        chosen = choose(study, known, asked)
        rows = queries.compared_at([cell.key for cell in chosen.cells], operation, metric)
    else:
        of_run = [row for row in queries.compared_of_run(asked.run, metric) if row["operation"] == operation]
        measured = {row["cell_key"] for row in of_run if row["value"] is not None}
        keys = dict.fromkeys(row["cell_key"] for row in of_run)
        chosen = choose(study, [Known(Cell.from_key(key), key in measured) for key in keys], asked)
        chosen_keys = {cell.key for cell in chosen.cells}
        rows = [row for row in of_run if row["cell_key"] in chosen_keys]
    environments = queries.environments({row["environment_hash"] for row in rows if row["environment_hash"]})
    return rank(study, replace(asked, operation=operation, metric=metric), chosen, rows, environments)


def _by(study: StudyRecord, asked: Question) -> tuple[str, str]:
    """Return the operation and the metric to rank by."""
    operations = [record.name for record in study.operations]
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
        raise SpecError(f"{metric} has no better direction: rank by {', '.join(ranking)}")
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
    environment = known.chosen(question.conditions)
    candidates = [known.measured(cell, environment, by_cover=metric.by_cover) for cell in chosen.cells]
    exclusions = {
        measured.cell: [exclusion] if (exclusion := known.missing(measured)) else unfair(study, measured)
        for measured in candidates
    }

    included = _included(question, metric)

    def ranks(measured: Measured) -> bool:
        return all(exclusion.reason in included for exclusion in exclusions[measured.cell])

    ordered = in_order(candidates, metric)
    # among equally frequent guarantees, the guarantee of the best cell comes first
    guarantees = [
        guarantee
        for guarantee, _ in guarantees_of(
            measured for measured in ordered if not exclusions[measured.cell]
        ).most_common()
    ]
    guarantees += [
        guarantee
        for guarantee in guarantees_of(measured for measured in ordered if not is_floor(study, measured))
        if guarantee not in guarantees
    ]
    guarantee = question.guarantee or next(iter(guarantees), None)
    if guarantee is not None and guarantee not in guarantees:
        raise unknown("guarantee", guarantee, guarantees)
    for measured in ordered:
        # a limit store delivers and guarantees nothing
        if not is_floor(study, measured) and (exclusion := unlike(measured, guarantee)):
            exclusions[measured.cell].append(exclusion)
    excluded = [measured for measured in candidates if not ranks(measured)]
    differences = {
        measured.cell: exclusions[measured.cell] + few(measured) for measured in ordered if ranks(measured)
    }
    return Ranking(
        replace(
            question,
            rows=chosen.rows,
            seed=chosen.seed,
            axes=chosen.axes,
            conditions=environment.id if environment else None,
            guarantee=question.guarantee if UNLIKE in included else guarantee,
        ),
        metric,
        chosen,
        known.known,
        guarantees,
        _lines([measured for measured in ordered if ranks(measured)], differences, question.margin),
        [Excluded(measured, exclusions[measured.cell]) for measured in excluded],
        study,
    )


def _included(question: Question, metric: Metric) -> frozenset[str]:
    """Return the reasons for exclusion that this question ignores.

    A chosen guarantee excludes cells with another guarantee. Figures of clients and of engines never share a ranking.
    """
    if question.alike:
        return question.included
    kept = {BOUND, SERVICE_BOUND, *(() if question.guarantee or metric.by_cover else (UNLIKE,))}
    return question.included | kept


def in_order(candidates: Iterable[Measured], metric: Metric) -> list[Measured]:
    """Return the cells with figures, the best median first."""
    sign = -1 if metric.better == "higher" else 1
    medians = [(sign * measured.summary.median, measured) for measured in candidates if measured.summary]
    return [measured for _, measured in sorted(medians, key=lambda pair: (pair[0], pair[1].cell.key))]


def _lines(
    candidates: Sequence[Measured], differences: Mapping[Cell, Sequence[Exclusion]], margin: float
) -> list[Line]:
    """Assign places: a cell that may equal the best remaining cell shares its place."""
    lines: list[Line] = []
    remaining = list(candidates)
    of_best: dict[Cell, Against] = {}
    doubts = [text for best in candidates[:1] for text in unsound(best.rows) if text.endswith(NOT_JUDGED)]
    while remaining:
        first, *others = remaining
        verdicts = _Verdicts.of(first, others, margin)
        if not lines:
            of_best = _explained(first, others, verdicts, margin)
        by_cell = verdicts.by_cell
        remaining = [other for other in others if other.cell in by_cell and by_cell[other.cell].is_worse]
        place = 1 + len(lines)
        lines += [
            Line(
                place,
                measured,
                measured.summary,
                against := of_best.get(measured.cell),
                differences[measured.cell],
                unsound(measured.rows) + partly(measured),
                doubts if against else [],
            )
            for measured in [first, *(measured for measured in others if measured not in remaining)]
            if measured.summary
        ]
    return lines


@dataclass(frozen=True)
class _Verdicts:
    """Verdicts of cells against a better cell over all runs, with one correction for all comparisons."""

    by_cell: Mapping[Cell, Verdict]
    without: Mapping[Cell, str]  # reasons of cells without a verdict
    designs: Mapping[Cell, Design]

    @classmethod
    def of(cls, first: Measured, others: Iterable[Measured], margin: float) -> _Verdicts:
        pairs: dict[Cell, Pair] = {}
        without: dict[Cell, str] = {}
        designs: dict[Cell, Design] = {}
        for other in others:
            sides = _sides(first, other)
            designs[other.cell] = sides.design
            side_pairs, reasons = sides.pairs()
            for pair in side_pairs.values():  # at most one pair: each side is a cell at one operation
                pairs[other.cell] = pair
            for reason in reasons.values():
                without[other.cell] = reason
        return cls(verdicts_of(pairs, margin=margin), without, designs)


def _explained(
    best: Measured, others: Sequence[Measured], verdicts: _Verdicts, margin: float
) -> dict[Cell, Against]:
    by_units = {
        units: power.explained(verdicts.by_cell, units=units, margin=margin)
        for units in {design.units for design in verdicts.designs.values()}
    }
    against = {}
    for measured in others:
        design = verdicts.designs[measured.cell]
        verdict = by_units[design.units].get(measured.cell)
        against[measured.cell] = Against(
            verdict.label if verdict else CANNOT_TELL,
            verdict.reason if verdict else verdicts.without[measured.cell],
            verdict,
            _relative_to_best(best, measured),
            design.caution,
        )
    return against


def _sides(best: Measured, other: Measured) -> Sides:
    first, second = (
        Side(measured.counted, measured.runs, is_cell=True, pair_of=of_one_cell) for measured in (best, other)
    )
    return Sides(first, second, design_of_cells(first.runs, second.runs))


def _relative_to_best(best: Measured, measured: Measured) -> float | None:
    assert best.summary and measured.summary
    best_median, median = best.summary.median, measured.summary.median
    if min(best_median, median) <= 0:
        return None
    return best_median / median if measured.counted[0]["better"] == "higher" else median / best_median
