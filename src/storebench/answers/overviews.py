"""Build the overview: for each study, the best cells of each operation, the newest runs, and the next step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from storebench.answers.base import Answer
from storebench.answers.runs import Run
from storebench.answers.standings import (
    Standing,
    Words,
    all_places,
    open_lines,
    places_of,
    ranked_operations,
    standing_of,
    unmeasured,
    value_at,
)
from storebench.errors import SpecError
from storebench.results.database.queries import Queries
from storebench.results.ranking.choice import Question
from storebench.results.ranking.exclusion import Measured
from storebench.results.ranking.rank import Ranking, ranking_of
from storebench.results.statistics.intervals import MIN_VALUES
from storebench.results.statistics.verdicts import CANNOT_TELL, MIN_UNITS
from storebench.study.cell import Cell
from storebench.study.reserved import CLIENT, STORE

NEWEST = 5  # number of newest runs of a study


class NextStep(Answer):
    """The next sensible step of a study's user."""

    kind: Literal["start", "watch", "repeat", "compare", "fill"] = Field(
        description="`start` a run, `watch` the run `run`, `repeat` the values `by` of the run to decide, `compare` them, or `fill` the grid"
    )
    text: str
    operation: str | None = None
    run: str | None = Field(default=None, description="The run to watch, or the run in which to compare")
    by: str | None = Field(
        default=None,
        description="Two values to compare within the run, such as store=A,B; None to start a run with `params`",
    )
    params: dict[str, Any] = Field(default={}, description="Parameters of a run that measures the cells")


class StudyOverview(Answer):
    """The overview of a study. `runs`: the newest runs."""

    study: str
    title: str
    problem: str | None = Field(description="Why this version cannot rank the study; None if it can")
    standings: list[Standing] = Field(
        description="A standing for each operation, in the study's order, except operations without a better direction"
    )
    runs: list[Run]
    next: NextStep


class Overview(Answer):
    """The overview of all studies with runs; the study with the newest run comes first."""

    studies: list[StudyOverview]


def study_overview(queries: Queries, name: str, runs: Sequence[Run]) -> StudyOverview:
    """Build the overview of a study. `runs`: its newest runs, the newest first."""
    try:
        study = queries.study(name)
    except SpecError as error:
        step = NextStep(kind="start", text="Start a run.")
        return StudyOverview(
            study=name, title=name, problem=str(error), standings=[], runs=list(runs), next=step
        )
    rankings = {operation: _ranking(queries, name, operation) for operation in ranked_operations(study)}
    standings = [
        standing_of(study, operation, ranking) if ranking else unmeasured(study, operation)
        for operation, ranking in rankings.items()
    ]
    return StudyOverview(
        study=name,
        title=study.title,
        problem=None,
        standings=standings,
        runs=list(runs),
        next=_next_step(runs, [ranking for ranking in rankings.values() if ranking]),
    )


def _ranking(queries: Queries, study: str, operation: str) -> Ranking | None:
    """Return the default ranking of an operation; None without cells."""
    try:
        return ranking_of(queries, Question(study, operation))
    except SpecError:
        return None


def _next_step(runs: Sequence[Run], rankings: Sequence[Ranking]) -> NextStep:
    """Return the next step: watch a run, start the first run, decide, measure a second cell, or compare."""
    for newest in runs:
        if newest.state in ("queued", "running"):
            return NextStep(kind="watch", text="A run is in progress.", run=newest.id)
    ranked = [ranking for ranking in rankings if ranking.lines]
    if not ranked:
        failed = " The newest run has no attempt that counts." if runs else ""
        return NextStep(kind="start", text=f"Start a run: there is nothing to rank.{failed}")
    for ranking in ranked:
        if step := _repeat(ranking):
            return step
    several = [ranking for ranking in ranked if len(ranking.lines) > 1]
    for ranking in several:
        best, other = ranking.lines[:2]
        shared_run, by = _within(best.measured, other.measured)
        if by:
            words = Words(ranking)
            return NextStep(
                kind="compare",
                text=f"Compare {words.label(best)} with {words.label(other)}.",
                operation=ranking.question.operation,
                run=shared_run,
                by=by,
            )
    if several:
        return NextStep(kind="fill", text="Measure the cells of the grid that have no results.")
    store = ranked[0].lines[0].measured.cell.store
    return NextStep(kind="start", text=f"Measure another store: only {store} is ranked.")


def _repeat(ranking: Ranking) -> NextStep | None:
    """Return the step that would decide the first open verdict; None if no number of repeats would."""
    first, _ = places_of(ranking)
    for line in open_lines(first):
        if line.against is None or line.against.label != CANNOT_TELL:
            continue
        verdict, best = line.against.verdict, first[0]
        if verdict and (verdict.ratio is None or (verdict.noise is not None and verdict.enough is None)):
            continue
        run, by = _within(best.measured, line.measured)
        words = Words(ranking)
        return NextStep(
            kind="repeat",
            text=f"Measure {words.label(best)} and {words.label(line)} again: {ranking.question.operation} does not tell them apart.",
            operation=ranking.question.operation,
            run=run,
            by=by,
            params={
                **_params([best.measured.cell, line.measured.cell]),
                "repeats": max((verdict and verdict.enough) or MIN_UNITS, MIN_VALUES),
            },
        )
    return None


def _within(best: Measured, other: Measured) -> tuple[str | None, str | None]:
    """Return the newest run with both cells, and the two values in which alone the cells differ; None without such a run or values."""
    cells = best.cell, other.cell
    differ = [
        place for place in all_places(cells) if value_at(best.cell, place) != value_at(other.cell, place)
    ]
    newest = sorted(other.counted, key=lambda row: row["recorded_at"], reverse=True)
    run = next((str(row["run_id"]) for row in newest if row["run_id"] in best.runs), None)
    values = [value_at(cell, differ[0]) for cell in cells] if len(differ) == 1 else [None]
    if run is None or None in values:
        return run, None
    return run, f"{differ[0]}={','.join(map(str, values))}"


def _params(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the parameters of a run that measures the cells."""
    params: dict[str, Any] = {
        f"{place}s" if place in (STORE, CLIENT) else place: [
            value for value in dict.fromkeys(value_at(cell, place) for cell in cells) if value is not None
        ]
        for place in all_places(cells)
    }
    return {**params, "rows": cells[0].rows, "seed": cells[0].seed}
