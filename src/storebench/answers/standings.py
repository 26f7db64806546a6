"""Describe the best cells of an operation: the first place of a ranking, and a sentence.

The verdicts are the verdicts of the ranking (`storebench.results.ranking`). A sentence names a best cell only where the verdicts decide, and
gives each figure with its number of attempts and its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from storebench.answers.attempts import Spread
from storebench.answers.base import Answer
from storebench.answers.figures import named, spread_of
from storebench.answers.studies import CellName
from storebench.answers.units import Figures, compared, figure_text
from storebench.results.database.measurements import metrics_of, scalars_of
from storebench.results.ranking.choice import ANY
from storebench.results.ranking.exclusion import (
    BOUND,
    DISTURBED,
    ELSEWHERE,
    FLOOR,
    SERVICE_BOUND,
    UNLIKE,
    UNVERIFIED,
)
from storebench.results.ranking.rank import Line, Ranking
from storebench.results.statistics.intervals import CONFIDENCE, Summary
from storebench.results.statistics.verdicts import SAME
from storebench.study.cell import Cell
from storebench.study.record import NEITHER, StudyRecord
from storebench.study.reserved import CLIENT, STORE

MOST_NAMED = 3  # number of cells that a sentence names
Lines = Sequence[Line]
# The words for excluded cells, after a number. A sentence does not mention the floor, which is no competitor.
EXCLUDED: Mapping[str, str] = {
    UNLIKE: "with another guarantee",
    BOUND: "limited by the client",
    SERVICE_BOUND: "limited by the service",
    DISTURBED: "disturbed",
    ELSEWHERE: "in other environments",
    UNVERIFIED: "without a verified attempt",
}


class BestCell(CellName):
    """A cell in the first place of an operation."""

    label: str = Field(description="The cell's store, and the other places in which the ranked cells differ")
    spread: Spread
    verdict: Literal["the best", "better", "worse", "the same", "cannot tell"] = Field(
        description="Relative to the cell with the best median"
    )


class Standing(Answer):
    """The best cells of an operation in the study's default ranking."""

    operation: str
    metric: str
    title: str
    unit: str
    scope: str = Field(description="What the ranked cells have in common. The sentence holds only there")
    state: Literal["decided", "tied", "undecided", "alone", "unmeasured"] = Field(
        description="`decided`: every other cell is worse than the best cell. `tied`: the others of the first place do not differ by more"
        " than the margin. `undecided`: more repeats are needed. `alone`: only one cell is ranked. `unmeasured`: none is"
    )
    sentence: str
    best: list[BestCell] = Field(
        description="The cells of the first place; the first cell has the best median"
    )
    ranked: int = Field(description="Number of ranked cells")
    excluded: int = Field(description="Number of excluded cells")
    caution: str | None = Field(description="The limits of the verdicts")


def ranked_operations(study: StudyRecord) -> list[str]:
    metrics = metrics_of(study)
    names = [record.name for record in study.operations]
    return [name for name in names if metrics[scalars_of(study, name)[0]].better != NEITHER]


def unmeasured(study: StudyRecord, operation: str) -> Standing:
    metric = metrics_of(study)[scalars_of(study, operation)[0]]
    return Standing(
        operation=operation,
        metric=metric.name,
        title=metric.title,
        unit=metric.unit,
        scope="",
        state="unmeasured",
        sentence="No run has measured it.",
        best=[],
        ranked=0,
        excluded=0,
        caution=None,
    )


def standing_of(study: StudyRecord, operation: str, ranking: Ranking) -> Standing:
    words = Words(ranking)
    first, later = places_of(ranking)
    if not first:
        state, sentence = "unmeasured", "No cell can be ranked."
    elif len(ranking.lines) == 1:
        state, sentence = "alone", words.alone(first[0])
    elif len(first) == 1:
        state, sentence = "decided", words.decided(first[0], later)
    elif all(line.against is None or line.against.label == SAME for line in first):
        state, sentence = "tied", words.tied(first, later)
    else:
        state, sentence = "undecided", words.undecided(first, later)
    excluded = _excluded_text(ranking)
    return Standing.model_validate(
        {
            "operation": operation,
            "metric": ranking.metric.name,
            "title": ranking.metric.title,
            "unit": ranking.metric.unit,
            "scope": _scope(study, ranking),
            "state": state,
            "sentence": f"{sentence} {excluded}".strip(),
            "best": [
                {
                    **named(line.measured.cell.key),
                    "label": words.label(line),
                    "spread": spread_of(line.summary),
                    "verdict": line.against.label if line.against else "the best",
                }
                for line in first
            ],
            "ranked": len(ranking.lines),
            "excluded": len(ranking.excluded),
            "caution": ranking.caution,
        }
    )


def places_of(ranking: Ranking) -> tuple[Lines, Lines]:
    """Return the lines of the first place, and the other lines."""
    first = [line for line in ranking.lines if line.place == 1]
    return first, ranking.lines[len(first) :]


def _scope(study: StudyRecord, ranking: Ranking) -> str:
    """Return what the ranked cells have in common."""
    chosen = ranking.chosen
    parts = [f"{chosen.rows:,} rows", f"seed {chosen.seed}"] if study.dataset else []
    parts += [f"{name} {value}" for name, value in chosen.axes.items() if value != ANY]
    if ranking.question.guarantee and UNLIKE not in ranking.question.included:
        parts.append(f"guarantee {ranking.question.guarantee}")
    return ", ".join(parts)


def _excluded_text(ranking: Ranking) -> str:
    """Return a sentence with the numbers of excluded cells by their first reason; empty if only the floor is excluded."""
    reasons = [[reason.reason for reason in cell.reasons] for cell in ranking.excluded]
    counts = Counter(names[0] for names in reasons if names and FLOOR not in names)
    texts = [f"{counts[name]} {text}" for name, text in EXCLUDED.items() if counts[name]]
    return f"Not ranked: {', '.join(texts)}." if texts else ""


class Words:
    """Write the sentences about a ranking."""

    def __init__(self, ranking: Ranking) -> None:
        unit = ranking.metric.unit
        self._labels = _labels([line.measured.cell for line in ranking.lines])
        self._figures: Figures = compared(unit, [line.summary.median for line in ranking.lines])
        self._best, self._worse = ("fastest", "slower") if unit == "s" else ("best", "worse")
        self._margin = ranking.question.margin

    def label(self, line: Line) -> str:
        return self._labels[line.measured.cell]

    def alone(self, only: Line) -> str:
        return f"Only {self.label(only)} is ranked: median {self._median(only.summary)}."

    def decided(self, best: Line, later: Lines) -> str:
        text = f"{self.label(best)} is the {self._best} of {1 + len(later)}: median {self._median(best.summary)}."
        return text + self._behind(later)

    def tied(self, first: Lines, later: Lines) -> str:
        others = self._names(first[1:])
        text = f"The {self._best} median is that of {self.label(first[0])}: {self._median(first[0].summary)}."
        return f"{text} The same within {_percent(self._margin)}: {others}.{self._behind(later)}"

    def undecided(self, first: Lines, later: Lines) -> str:
        best, *others = first
        undecided = open_lines(first)
        same = [line for line in others if line not in undecided]
        text = f"The {self._best} median is that of {self.label(best)}: {self._median(best.summary)}."
        if same:
            text += f" The same within {_percent(self._margin)}: {self._names(same)}."
        reason = undecided[0].against.reason if undecided[0].against else None
        # a reason calls the best cell A, and the other cell B
        why = f" A = {self.label(best)}, B = {self.label(undecided[0])}: {reason}." if reason else ""
        return f"{text} Not told apart from it: {self._names(undecided)}.{why}{self._behind(later)}"

    def _behind(self, later: Lines) -> str:
        """Return a sentence about the first cell that is worse than the best cell; empty without such a cell."""
        verdict = later[0].against.verdict if later and later[0].against else None
        if verdict is None or verdict.ratio is None or verdict.interval is None:
            return ""
        low, high = verdict.interval.low, verdict.interval.high
        low, factor, high = (
            (1 / high, 1 / verdict.ratio, 1 / low)
            if verdict.better == "higher"
            else (low, verdict.ratio, high)
        )
        return (
            f" Next is {self.label(later[0])}, {self._worse} by a factor of {figure_text(factor, None)}"
            f" ({_percent(CONFIDENCE)} interval {figure_text(low, None)} to {figure_text(high, None)})."
        )

    def _names(self, lines: Lines) -> str:
        names = [self.label(line) for line in lines[:MOST_NAMED]]
        more = len(lines) - len(names)
        return ", ".join(names) + (f" and {more} more" if more else "")

    def _median(self, summary: Summary) -> str:
        """Return a median with its interval and its number of attempts."""
        text, interval = self._figures.text(summary.median), summary.interval
        if interval is None:
            return f"{text} (n = {summary.n}, too few for an interval)"
        ends = self._figures.interval(interval.low, interval.high, summary.median)
        return f"{text} ({_percent(CONFIDENCE)} interval {ends}, n = {summary.n})"


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"


def open_lines(first: Lines) -> list[Line]:
    """Return the lines of the first place that may be equal to or worse than the best cell."""
    return [line for line in first if line.against and line.against.label != SAME]


def _labels(cells: Sequence[Cell]) -> dict[Cell, str]:
    """Return a label of each cell: its store, and its client and its values on axes where the cells differ."""
    differ = [place for place in all_places(cells) if len({value_at(cell, place) for cell in cells}) > 1]
    labels = {}
    for cell in cells:
        values = {place: value for place in differ if (value := value_at(cell, place)) is not None}
        values.pop(STORE, None)
        parts = [value if place == CLIENT else f"{place} {value}" for place, value in values.items()]
        labels[cell] = f"{cell.store} ({', '.join(parts)})" if parts else cell.store
    return labels


def all_places(cells: Iterable[Cell]) -> list[str]:
    """Return the names of all places of the cells' keys: store, client, and the axes."""
    return list(dict.fromkeys([STORE, CLIENT, *(name for cell in cells for name, _ in cell.axes)]))


def value_at(cell: Cell, place: str) -> str | None:
    return {STORE: cell.store, CLIENT: cell.client}.get(place, cell.value(place))
