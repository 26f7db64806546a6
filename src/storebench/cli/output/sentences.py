"""Write a sentence for each store of a run: its best figures of each workload, compared with stores of the same delivery or durability.

The values of a workload axis (`Axis.workload`) ask for different work, so each value has its own figures.

The sentences claim only what the figures show: no superlative without intervals, and no ratio of times that are or may be mostly a fixed
cost. A time may be mostly fixed cost if it is short relative to its pod's start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storebench.answers.units import NOTHING, figure_text
from storebench.cli.output.table import differing_columns
from storebench.results.database.connection import Row
from storebench.results.database.measurements import UNKNOWN, guarantee_of, metrics_of, scalars_of, value_of
from storebench.results.database.queries import counts
from storebench.results.forecast.fixed import Fixed, FixedParts
from storebench.results.statistics.intervals import Summary, summarize
from storebench.study.cell import Cell
from storebench.study.model import Axis, Metric
from storebench.study.record import StudyRecord

MOST = 0.5  # a larger share of a time is most of the time
# A time of at least this many pod starts counts as not mostly fixed, if its fixed part is unknown. The first operation of a client that
# starts a JVM and its own pods takes about twice as long as the start of its pod.
LONG = 5
NOTHING_KNOWN = Fixed(0.0, None)
Workload = tuple[tuple[str, str], ...]  # pairs of a workload axis and a cell's value


@dataclass(frozen=True)
class Larger:
    """A preset with more rows."""

    preset: str
    rows: int


@dataclass(frozen=True)
class Best:
    """The operation of a store's best cell of one workload and one kind. `kind`: the delivery, or else the durability; None: neither is
    stated.
    """

    cell: Cell
    workload: Workload
    operation: str
    metric: Metric  # the ranking metric
    kind: str | None
    delivers: bool  # whether the kind is a delivery
    summary: Summary
    start_s: float  # the pod's start and end
    fixed_s: float | None  # the estimated fixed part of the median; None: not known
    judged: bool  # whether all attempts were judged for disturbances

    @property
    def store(self) -> str:
        return self.cell.store

    @property
    def text(self) -> str:
        return figure_text(self.summary.median, self.metric.unit)

    @property
    def mostly_fixed(self) -> bool:
        return self.fixed_s is not None and self.fixed_s > MOST * self.summary.median

    @property
    def short(self) -> bool:
        """Return whether the fixed part is unknown and may be most of the time."""
        return self.fixed_s is None and self.summary.median < LONG * self.start_s

    @property
    def compares(self) -> bool:
        return not self.mostly_fixed and not self.short


def sentences(
    rows: Sequence[Row],
    operations: Sequence[str],
    study: StudyRecord,
    fixed: FixedParts,
    larger: Larger | None = None,
) -> list[str]:
    """Return a line for each store by name, and remarks. A store that only shows the client's limit is not compared."""
    cells = list(dict.fromkeys(Cell.from_key(row["cell_key"]) for row in rows))
    bests = _bests(rows, operations, study, fixed)
    where = where_of(cells)
    floors = {store.name for store in study.stores if store.floor}
    ranked = [best for best in bests if best.store.partition("@")[0] not in floors]
    lines = []
    for store in sorted({cell.store for cell in cells}):
        parts = []
        for operation in operations:
            kinds = {best.kind for best in ranked if best.operation == operation}
            for best in bests:
                if (best.store, best.operation) == (store, operation):
                    kind = _kind(best) if len(kinds) > 1 and best in ranked else ""
                    said = _compared(best, ranked) if best in ranked else ""
                    parts.append(f"{operation} {best.text}{where[best.cell]}{kind}{said}")
        kept = store.partition("@")[0] not in floors or not parts
        alone = "" if kept else "floor, the client without a store: "
        lines.append(f"{store}: {alone}{'; '.join(parts) or 'nothing is verified and undisturbed'}.")
    return [*lines, *_remarks(ranked, larger)]


def _bests(
    rows: Iterable[Row], operations: Sequence[str], study: StudyRecord, fixed: FixedParts
) -> list[Best]:
    metrics = metrics_of(study)
    ranking = {operation: metrics[scalars_of(study, operation)[0]] for operation in operations}
    tries: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        metric = ranking.get(row["operation"])
        if metric and counts(row) and value_of(row, metric.name) is not None:
            tries[row["cell_key"], row["operation"]].append(row)
    axes = [axis for axis in study.axes if axis.workload]
    bests: dict[tuple[str, str, str | None, Workload], Best] = {}
    for (key, operation), of_cell in tries.items():
        metric = ranking[operation]
        part = fixed.get((key, operation), NOTHING_KNOWN)
        values = [value for row in of_cell if (value := value_of(row, metric.name)) is not None]
        cell = Cell.from_key(key)
        best = Best(
            cell,
            _workload(cell, axes),
            operation,
            metric,
            guarantee_of(of_cell),
            any(row["delivers"] for row in of_cell),
            summarize(values),
            part.start_s,
            part.fixed_s,
            not any(row["not_judged"] for row in of_cell),
        )
        place = best.store, operation, best.kind, best.workload
        before = bests.setdefault(place, best)
        if _better(best, before):
            bests[place] = best
    return sorted(bests.values(), key=lambda best: _in_order(best.workload, axes))


def _workload(cell: Cell, axes: Sequence[Axis]) -> Workload:
    return tuple((axis.name, value) for axis in axes if (value := cell.value(axis.name)) is not None)


def _in_order(workload: Workload, axes: Sequence[Axis]) -> list[int]:
    """Return a workload's sort key: the position of each value among the axis's choices; other values come last."""
    values, choices = dict(workload), {axis.name: axis.choices for axis in axes}
    return [
        choices[name].index(values[name]) if values.get(name) in choices[name] else len(choices[name])
        for name in choices
    ]


def _better(best: Best, other: Best) -> bool:
    """Return whether the first median is better; without a preferred direction, the lower median."""
    if best.metric.better == "higher":
        return best.summary.median > other.summary.median
    return best.summary.median < other.summary.median


def _compared(best: Best, ranked: Iterable[Best]) -> str:
    """Return the text after a figure: its comparison with the best figure of the same kind, if the two figures can be compared."""
    if best.mostly_fixed:
        return f", of which about {figure_text(best.fixed_s, 's')} are a fixed cost"
    alike = _alike(best, ranked)
    known = [candidate for candidate in alike if candidate.compares]
    if not best.compares or len(known) < 2:
        return ""
    first = known[0]
    for candidate in known[1:]:
        first = candidate if _better(candidate, first) else first
    is_time = best.metric.unit == "s"
    if best is first:
        is_clear = len(known) == len(alike) and all(
            _are_disjoint(first, candidate) for candidate in known if candidate is not first
        )
        return f", the {'fastest' if is_time else 'best'} of {len(known)}" if is_clear else ""
    if _are_disjoint(first, best) is False:
        return f", not told apart from {first.store}"
    if not first.summary.median or not best.summary.median:
        return ""
    return _ratio(best, first, is_time=is_time)


def _ratio(best: Best, first: Best, *, is_time: bool) -> str:
    higher = best.metric.better == "higher"
    ratio = best.summary.median / first.summary.median
    ratio = 1 / ratio if higher else ratio
    times = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
    if times == "1.0":
        return f", as {'long' if is_time else 'much'} as {first.store}"
    if higher:
        return f"; {first.store} has {times} times as much"
    return f", {times} times {'as long as' if is_time else 'that of'} {first.store}"


def _alike(best: Best, ranked: Iterable[Best]) -> list[Best]:
    """Return the ranked operations of the same workload and kind, including `best`; empty for an unknown kind, or without a preferred
    direction."""
    same = [
        candidate
        for candidate in ranked
        if (candidate.operation, candidate.workload) == (best.operation, best.workload)
    ]
    stated = any(candidate.kind for candidate in same)
    if best.kind == UNKNOWN or (stated and best.kind is None) or best.metric.better == "neither":
        return []
    return [candidate for candidate in same if candidate.kind == best.kind]


def _are_disjoint(better: Best, worse: Best) -> bool | None:
    """Return whether the intervals of two medians are disjoint; None if a median has no interval."""
    better_interval, worse_interval = better.summary.interval, worse.summary.interval
    if better_interval is None or worse_interval is None:
        return None
    return (
        better_interval.low > worse_interval.high
        if better.metric.better == "higher"
        else better_interval.high < worse_interval.low
    )


def _kind(best: Best) -> str:
    if best.kind in (None, UNKNOWN):
        return ""
    return f" as {best.kind}" if best.delivers else f" with durability {best.kind}"


def _remarks(ranked: Sequence[Best], larger: Larger | None) -> list[str]:
    lines = []
    if any(best.mostly_fixed for best in ranked):
        lines.append(
            "A fixed cost, such as that of a new session's first query, does not grow with the rows. A time that is mostly one is compared"
            " with nothing, as it says little of larger datasets."
        )
    short = {_name(best) for best in ranked if best.short and len(_alike(best, ranked)) > 1}
    if short:
        lines.append(
            f"Short beside the starts of their pods, and nothing tells how much of them is a fixed cost: {', '.join(sorted(short))}. They are compared"
            " with nothing."
        )
    if lines and larger and larger.rows > max(best.cell.rows for best in ranked):
        lines.append(f"The preset {larger.preset} has {larger.rows:,} rows.")
    if not_judged := {_name(best) for best in ranked if not best.judged}:
        lines.append(
            f"Not judged: {', '.join(sorted(not_judged))}. Others on the node may have disturbed these attempts, and nobody can say."
        )
    return lines


def _name(best: Best) -> str:
    """Return the name of a figure: store, operation and workload."""
    return " ".join([best.store, best.operation, *(f"{name}={value}" for name, value in best.workload)])


def where_of(cells: Sequence[Cell]) -> dict[Cell, str]:
    """Return for each cell, in brackets, the values that distinguish it from other cells of its store."""
    names, places, _ = differing_columns(cells)
    texts_of_cells: dict[Cell, str] = {}
    for cell, place in zip(cells, places, strict=True):
        texts = {name.heading: text for name, text in zip(names, place, strict=True) if text != NOTHING}
        texts.pop("store", None)
        client = [texts.pop("client")] if "client" in texts else []
        parts = [*client, *(f"{heading}={text}" for heading, text in texts.items())]
        texts_of_cells[cell] = f" ({', '.join(parts)})" if parts else ""
    return texts_of_cells
