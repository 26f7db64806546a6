"""Compare the figures of a run, and say in at most five sentences what its table does not show.

A workload axis (`Axis.workload`) asks for different work, so only cells with the same workload are compared. The comparison claims only
what the figures show: no best cell without intervals, and no ratio of times that are or may be mostly a fixed cost. A time may be mostly a
fixed cost if it is short relative to its pod's start.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storebench.answers.units import NOTHING
from storebench.cli.output.table import differing_columns, remark
from storebench.results.database.connection import Row
from storebench.results.database.measurements import UNKNOWN, guarantee_of, metrics_of, scalars_of, value_of
from storebench.results.database.queries import broken_first, counts
from storebench.results.forecast.fixed import Fixed, FixedParts
from storebench.results.statistics.intervals import MIN_VALUES, Summary, summarize
from storebench.study.cell import Cell
from storebench.study.model import Axis, Metric
from storebench.study.record import StudyRecord

MOST = 0.5  # a larger share of a time is most of the time
# A time of at least this many pod starts counts as not mostly fixed, if its fixed part is unknown. The first operation of a client that
# starts a JVM and its own pods takes about twice as long as the start of its pod.
LONG = 5
NAMED = 3  # the largest number of items that a sentence names
NOTHING_KNOWN = Fixed(0.0, None)
Workload = tuple[tuple[str, str], ...]  # pairs of a workload axis and a cell's value
# Why two cells are not compared
NO_BETTER = "no value is better"
OTHER_FORM, OTHER_DURABILITY = "the delivered form differs", "durability differs"
UNKNOWN_GUARANTEE = "a guarantee is unknown"
FIXED_COST, SHORT = "mostly a fixed cost", "too short to judge"


@dataclass(frozen=True)
class Larger:
    """A preset with more rows."""

    preset: str
    rows: int


@dataclass(frozen=True)
class Figure:
    """The ranking figure of an operation of a cell. `guarantee`: the delivered form, or else the durability; None: neither is stated."""

    cell: Cell
    workload: Workload
    operation: str
    metric: Metric  # the ranking metric
    guarantee: str | None
    delivers: bool  # whether the guarantee is a delivered form
    floor: bool  # whether the store is a floor, which is not compared
    summary: Summary
    start_s: float  # the pod's start and end
    fixed_s: float | None  # the estimated fixed part of the median; None: not known

    @property
    def median(self) -> float:
        return self.summary.median

    @property
    def group(self) -> tuple[str, Workload]:
        """Return the operation and the workload, which compared figures share."""
        return self.operation, self.workload

    @property
    def mostly_fixed(self) -> bool:
        return self.fixed_s is not None and self.fixed_s > MOST * self.median

    @property
    def short(self) -> bool:
        """Return whether the fixed part is unknown and may be most of the time."""
        return self.fixed_s is None and self.median < LONG * self.start_s

    @property
    def order(self) -> float:
        """Return the sort key of the median, the best first; without a preferred direction ascending."""
        return -self.median if self.metric.better == "higher" else self.median


def figures_of(
    rows: Iterable[Row], operations: Sequence[str], study: StudyRecord, fixed: FixedParts
) -> list[Figure]:
    """Return the ranking figures of the attempts that count: by operation and workload, then the best first, and floors last."""
    metrics = metrics_of(study)
    ranking = {operation: metrics[scalars_of(study, operation)[0]] for operation in operations}
    tries: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        metric = ranking.get(row["operation"])
        if metric and counts(row) and value_of(row, metric.name) is not None:
            tries[row["cell_key"], row["operation"]].append(row)
    axes = [axis for axis in study.axes if axis.workload]
    floors = {store.name for store in study.stores if store.floor}
    figures = []
    for (key, operation), of_cell in tries.items():
        metric, cell = ranking[operation], Cell.from_key(key)
        part = fixed.get((key, operation), NOTHING_KNOWN)
        values = [number for row in of_cell if (number := value_of(row, metric.name)) is not None]
        figures.append(
            Figure(
                cell,
                tuple((axis.name, place) for axis in axes if (place := cell.value(axis.name)) is not None),
                operation,
                metric,
                guarantee_of(of_cell),
                any(row["delivers"] for row in of_cell),
                cell.store.partition("@")[0] in floors,
                summarize(values),
                part.start_s,
                part.fixed_s,
            )
        )

    def position(figure: Figure) -> tuple[int, list[int], bool, float]:
        order = workload_order(figure.workload, axes)
        return operations.index(figure.operation), order, figure.floor, figure.order

    return sorted(figures, key=position)


def workload_order(workload: Workload, axes: Iterable[Axis]) -> list[int]:
    """Return a workload's sort key: the position of each value among the axis's choices; other values come last."""
    values, choices = dict(workload), {axis.name: axis.choices for axis in axes if axis.workload}
    return [
        choices[name].index(values[name]) if values.get(name) in choices[name] else len(choices[name])
        for name in choices
    ]


def times_the_best(figures: Sequence[Figure]) -> dict[tuple[Cell, str], float]:
    """Return the median of each compared figure relative to the best figure with the same guarantee, by cell and operation."""
    ratios: dict[tuple[Cell, str], float] = {}
    for compared in _compared(figures):
        if best := compared[0].median:
            ratios |= {(figure.cell, figure.operation): figure.median / best for figure in compared}
    return ratios


def _groups(figures: Iterable[Figure]) -> list[list[Figure]]:
    """Return the figures of each operation and workload, the best first, without floors."""
    groups: dict[tuple[str, Workload], list[Figure]] = defaultdict(list)
    for figure in figures:
        if not figure.floor:
            groups[figure.group].append(figure)
    return list(groups.values())


def _compared(figures: Iterable[Figure]) -> list[list[Figure]]:
    """Return the lists of two or more figures that are compared, each with the best figure first."""
    lists: list[list[Figure]] = []
    for group in _groups(figures):
        apart: list[list[Figure]] = []
        for figure in group:
            known = next((members for members in apart if not _difference(members[0], figure, group)), None)
            if known is None:
                apart.append([figure])
            else:
                known.append(figure)
        lists += [members for members in apart if len(members) > 1]
    return lists


def _difference(a: Figure, b: Figure, group: Iterable[Figure]) -> str:
    """Return why two figures of a group are not compared; empty if they are."""
    if a.metric.better == "neither":
        return NO_BETTER
    stated = any(figure.guarantee for figure in group)
    for figure in (a, b):
        if figure.guarantee == UNKNOWN or (stated and figure.guarantee is None):
            return UNKNOWN_GUARANTEE
    if a.guarantee != b.guarantee:
        return OTHER_FORM if a.delivers or b.delivers else OTHER_DURABILITY
    if a.mostly_fixed or b.mostly_fixed:
        return FIXED_COST
    return SHORT if a.short or b.short else ""


def sentences(
    rows: Sequence[Row],
    figures: Sequence[Figure],
    study: StudyRecord,
    larger: Larger | None,
    results: str,
    ranking: str,
) -> list[str]:
    """Return at most five sentences about a run. `results`, `ranking`: the commands that list its attempts and its ranking."""
    lines = [_excluded(rows, results), _certainty(figures, study), _pairs(figures, larger, ranking)]
    lines += [_not_judged(rows), _limits(rows)]
    return [line for line in lines if line]


def _excluded(rows: Sequence[Row], results: str) -> str:
    """Say how many attempts do not count, and why the first does not: a broken guarantee if there is one."""
    excluded = broken_first(row for row in rows if not counts(row))
    if not excluded:
        return ""
    first = excluded[0]
    why = remark(first) or first["status"].replace("_", " ")
    number = f"{len(excluded):,} of {_counted(len(rows), 'attempt')} {'does' if len(excluded) == 1 else 'do'} not count"
    more = f". `{results}` lists each reason" if len(excluded) > 1 else ""
    named = f"{first['store']} {first['operation']}: {why}".rstrip(".")
    return f"{number}{', for example' if more else ':'} {named}{more}."


def _certainty(figures: Sequence[Figure], study: StudyRecord) -> str:
    """Say which cells are the best, if intervals show the order, or else that there are no intervals."""
    most = max((figure.summary.n for figure in figures), default=0)
    if most == 1:
        return "Each operation was measured once: without an interval, a small difference may be chance."
    if most < MIN_VALUES:
        return (
            f"The figures are medians of at most {most} attempts: fewer than {MIN_VALUES} have no interval, and a small difference may be chance."
            if most
            else ""
        )
    groups, lists = _groups(figures), _compared(figures)
    alike = Counter((figure.group, figure.guarantee) for group in groups for figure in group)
    where = where_of(list(dict.fromkeys(figure.cell for figure in figures)), study)
    best = [
        f"{_name(members[0])}{where[members[0].cell]}{_guarantee_text(members[0], groups)}"
        for members in lists
        if len(members) == alike[members[0].group, members[0].guarantee]
        and all(_are_disjoint(members[0], other) for other in members[1:])
    ]
    if best:
        return f"Best, as the intervals show: {_listed(best, '; ')}."
    return "No cell is the best: the intervals of the best cells overlap." if lists else ""


def _guarantee_text(figure: Figure, groups: Iterable[Sequence[Figure]]) -> str:
    """Return the text of a guarantee, if other cells of the group have another guarantee."""
    others = {other.guarantee for group in groups for other in group if other.group == figure.group}
    if len(others) < 2:
        return ""
    return f" as {figure.guarantee}" if figure.delivers else f" with durability {figure.guarantee}"


def _pairs(figures: Sequence[Figure], larger: Larger | None, ranking: str) -> str:
    """Say how many pairs of cells are not compared, and why."""
    reasons: Counter[str] = Counter()
    total = 0
    for group in _groups(figures):
        for a, b in itertools.combinations(group, 2):
            total += 1
            if reason := _difference(a, b, group):
                reasons[reason] += 1
    if not reasons:
        return ""
    most_rows = max(figure.cell.rows for figure in figures)
    texts = []
    for reason, n in reasons.most_common():
        of_larger = reason in (FIXED_COST, SHORT) and larger and larger.rows > most_rows
        hint = f"; the preset {larger.preset} has {larger.rows:,} rows" if of_larger and larger else ""
        texts.append(f"{reason} ({n:,}{hint})")
    left_out = sum(reasons.values())
    verb = "is" if left_out == 1 else "are"
    return (
        f"{left_out:,} of {_counted(total, 'pair')} {verb} not compared: {', '.join(texts)};"
        f" `{ranking}` lists the cells."
    )


def _not_judged(rows: Sequence[Row]) -> str:
    unjudged = sum(1 for row in rows if counts(row) and row["not_judged"])
    if not unjudged:
        return ""
    verb = "is" if unjudged == 1 else "are"
    return (
        f"{unjudged:,} of {_counted(len(rows), 'attempt')} {verb} not judged: other work on the node may have disturbed"
        f" {'it' if unjudged == 1 else 'them'}."
    )


def _limits(rows: Sequence[Row]) -> str:
    """Say which operations are limited by the client or the service before the store."""
    texts = []
    for what in ("client", "service"):
        bound = {f"{row['store']} {row['operation']}" for row in rows if counts(row) and row[f"{what}_bound"]}
        if bound:
            texts.append(f"the {what} limits {_listed(sorted(bound), ', ')}")
    return f"Not the store but {'; '.join(texts)}." if texts else ""


def _are_disjoint(better: Figure, worse: Figure) -> bool:
    """Return whether the intervals of two medians are disjoint; false if a median has no interval."""
    better_interval, worse_interval = better.summary.interval, worse.summary.interval
    if better_interval is None or worse_interval is None:
        return False
    return (
        better_interval.low > worse_interval.high
        if better.metric.better == "higher"
        else better_interval.high < worse_interval.low
    )


def _name(figure: Figure) -> str:
    """Return the name of a figure: operation, workload and store."""
    return " ".join(
        [figure.operation, *(f"{name}={value}" for name, value in figure.workload), figure.cell.store]
    )


def _listed(items: Sequence[str], separator: str) -> str:
    more = len(items) - NAMED
    return separator.join(items[:NAMED]) + (f"{separator}and {more:,} more" if more > 0 else "")


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def where_of(cells: Sequence[Cell], study: StudyRecord) -> dict[Cell, str]:
    """Return for each cell, in brackets, the values that distinguish it from other cells of its store."""
    names, places, _ = differing_columns(cells, {study.name: study})
    texts_of_cells: dict[Cell, str] = {}
    for cell, place in zip(cells, places, strict=True):
        texts = {name.heading: text for name, text in zip(names, place, strict=True) if text != NOTHING}
        texts.pop("store", None)
        client = [texts.pop("client")] if "client" in texts else []
        parts = [*client, *(f"{heading}={text}" for heading, text in texts.items())]
        texts_of_cells[cell] = f" ({', '.join(parts)})" if parts else ""
    return texts_of_cells
