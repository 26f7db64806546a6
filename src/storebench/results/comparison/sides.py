"""Build the two sides of a comparison: their attempts, and the independent units of these attempts.

Repeats within a run share the state of the machine during the run. So each run counts once on a side with several runs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from storebench.errors import SpecError, quoted, unknown
from storebench.results.comparison.units import DRIFT, Design, Unit, pair_between, units_of
from storebench.results.database.connection import Row
from storebench.results.database.measurements import scalars_of
from storebench.results.database.queries import Queries, counts
from storebench.results.database.runs import in_turns
from storebench.results.statistics.verdicts import Pair
from storebench.study.cell import Cell
from storebench.study.order import ARMS
from storebench.study.planned import PlannedStudy
from storebench.study.reserved import CLIENT, STORE

Key = tuple[str, str]  # cell's key, operation
Groups = dict[Key, list[Row]]
Named = str | Sequence[Row]  # a side by its name, or by the rows of its runs


def of_one_cell(_key: str) -> str:
    """Return the pair of a side that is a single cell: the same pair for every key."""
    return ""


@dataclass(frozen=True)
class Side:
    """A side: its attempts (newest tries, without warm-ups), and its runs in the order in which they were named.

    `to_come`: pending operations of its runs. `going_on`: names of the runs that have not ended. `pair_of`: returns the pair of a cell's
    key; the key itself if both sides have the same cells.
    """

    rows: Sequence[Row]
    runs: tuple[str, ...]
    is_cell: bool = False
    to_come: Sequence[Row] = ()
    going_on: tuple[str, ...] = ()
    pair_of: Callable[[str], str] = str

    def grouped(self, rows: Sequence[Row]) -> Groups:
        """Group rows of this side by pair and operation."""
        groups: Groups = {}
        for row in rows:
            groups.setdefault((self.pair_of(row["cell_key"]), row["operation"]), []).append(row)
        return groups


@dataclass(frozen=True)
class Sides:
    """The two sides of a comparison."""

    before: Side
    after: Side
    design: Design

    @cached_property
    def groups(self) -> tuple[Groups, Groups]:
        """Return the attempts of each side by cell and operation; for two cells, only by operation."""
        before, after = (side.grouped(side.rows) for side in (self.before, self.after))
        return before, after

    @cached_property
    def to_come(self) -> dict[Key, list[str]]:
        """Return texts about the sides' pending attempts, by cell and operation."""
        texts: dict[Key, list[str]] = {}
        for name, side in zip("AB", (self.before, self.after), strict=True):
            for key, rows in side.grouped(side.to_come).items():
                texts.setdefault(key, []).append(f"{name}: {len(rows)} to come, in a run that goes on")
        return texts

    def cells_of(self, keys: Iterable[Key]) -> dict[Key, tuple[str, str | None]]:
        """Return the keys of A's cell and of B's cell for each pair; None for B if B has no attempt."""
        before, after = (
            {key: str(rows[0]["cell_key"]) for key, rows in side.grouped((*side.rows, *side.to_come)).items()}
            for side in (self.before, self.after)
        )
        # a side that is a single cell has the same cell in all pairs
        first, second = (
            next(iter(cells.values()), None) if side.is_cell else None
            for side, cells in ((self.before, before), (self.after, after))
        )
        return {
            key: (key[0] or before.get(key) or first or after[key], after.get(key) or second) for key in keys
        }

    def pairs(self) -> tuple[dict[Key, Pair], dict[Key, str]]:
        """Return the comparable pairs, and the reasons why other pairs are not comparable."""
        groups = self.groups
        pairs: dict[Key, Pair] = {}
        without: dict[Key, str] = {}
        for key in dict.fromkeys([*groups[0], *groups[1], *self.to_come]):
            before, after = (
                units_of(group.get(key, []), unit_of)
                for group, unit_of in zip(groups, self.design.unit_of, strict=True)
            )
            if not before or not after:
                without[key] = ", ".join(
                    f"{side} has {lacking(group.get(key, []))}"
                    for side, group, units in zip("AB", groups, (before, after), strict=True)
                    if not units
                )
            elif len(names := _metrics(key, groups)) > 1:
                without[key] = f"its attempts are ranked by {' and '.join(names)}: compare by one of them"
            elif pair := pair_between(before, after, self.design, groups[0][key][0]["better"]):
                pairs[key] = pair
            else:
                without[key] = f"none of the {self.design.units} has both A and B verified"
        return pairs, without


def sides_of(
    queries: Queries, before: Named, after: Named, metric: str | None = None, study: str | None = None
) -> Sides:
    """Return the sides of two runs, or of two cells over all runs. `metric`: None for the metric that ranks each operation.

    A side is a name for `Queries.run_named`, several such names separated by commas, or a cell's key. `study`: the study that named runs
    must have. Raises SpecError for a name that is neither, or for a run and a cell.
    """
    first, second = side_of(queries, before, metric, study), side_of(queries, after, metric, study)
    if first.is_cell != second.is_cell:
        raise SpecError("Compare two runs or two cells, not a run and a cell")
    return Sides(
        first, second, (design_of_cells if first.is_cell else _design_of_runs)(first.runs, second.runs)
    )


def arms_of(queries: Queries, run: str, metric: str | None = None, study: str | None = None) -> Sides:
    """Return the sides within a run: the arms A and B of an A/A run, or the odd and even repeats of any other run."""
    side = side_of(queries, run, metric, study)
    if side.is_cell or len(side.runs) > 1:
        raise SpecError("Only one run has arms: name one run")
    first, second = (
        replace(side, rows=_of_arm(side.rows, arm), to_come=_of_arm(side.to_come, arm)) for arm in ARMS
    )
    return Sides(first, second, Design("rounds", (_round_of_arm, _round_of_arm), matched=True))


@dataclass(frozen=True)
class By:
    """The distinction between two sides of one run: `store`, `client` or an axis, and the values of A and of B."""

    place: str
    before: str
    after: str
    study: PlannedStudy | None = field(default=None, compare=False)

    @classmethod
    def of(cls, text: str) -> By:
        """Parse a text such as `store=mongodb,elasticsearch`. Raises SpecError for another form."""
        place, separator, values = text.partition("=")
        before, _, after = values.partition(",")
        if not (separator and place and before and after) or "," in after or before == after:
            raise SpecError(f"{quoted(text)} does not name two values, such as store=A,B")
        return cls(place, before, after)

    def within(self, study: PlannedStudy) -> By:
        """Return the distinction of cells of this study, whose keys may not name a value (`Axis.implied`)."""
        return replace(self, study=study)

    def value(self, key: str) -> str | None:
        """Return a cell's value in the distinction; None if the axis does not apply to the cell."""
        cell = Cell.from_key(key)
        axes = self.study.values_of(cell) if self.study else dict(cell.axes)
        return {STORE: cell.store, CLIENT: cell.client}.get(self.place, axes.get(self.place))

    def in_before(self, key: str) -> str:
        """Return the key of A's cell that matches a cell of B: both cells differ only in this place."""
        cell = Cell.from_key(key)
        if self.place == STORE:
            return replace(cell, store=self.before).key
        if self.place == CLIENT:
            return replace(cell, client=self.before).key
        if self.study:
            return self.study.at(cell, self.place, self.before).key
        axes = tuple((name, self.before if name == self.place else value) for name, value in cell.axes)
        return replace(cell, axes=axes).key


def values_of(
    queries: Queries, run: Named, by: By, metric: str | None = None, study: str | None = None
) -> Sides:
    """Return the sides of two values within one or several runs. Cells that differ only in these values are pairs.

    Raises SpecError for a value that was not measured.
    """
    side = side_of(queries, run, metric, study)
    if side.is_cell:
        raise SpecError("A cell is at one value only: name a run")
    if by.place not in (STORE, CLIENT) and side.rows:
        by = by.within(queries.study(Cell.from_key(side.rows[0]["cell_key"]).study))
    sides = []
    for value, pair_of in ((by.before, str), (by.after, by.in_before)):
        rows, to_come = (
            [row for row in attempts if by.value(row["cell_key"]) == value]
            for attempts in (side.rows, side.to_come)
        )
        if not rows and not to_come:
            known = dict.fromkeys(str(by.value(row["cell_key"])) for row in side.rows)
            raise unknown(by.place, value, [text for text in known if text != "None"])
        sides.append(replace(side, rows=rows, to_come=to_come, pair_of=pair_of))
    return Sides(sides[0], sides[1], design_of_cells(side.runs, side.runs))


def alike(side: Side) -> Sides:
    """Return two equal sides, to plan a comparison from one measured side."""
    if len(side.runs) > 1:
        return Sides(side, side, Design("runs", (_run, _run)))
    return Sides(side, side, Design("repeats", (_repeat, _repeat), caution=DRIFT))


def side_of(queries: Queries, named: Named, metric: str | None = None, study: str | None = None) -> Side:
    """Return the side of a run, of several runs, or of a cell over all runs. `study`: the study that named runs must have.

    Raises SpecError for any other name.
    """
    if not isinstance(named, str):
        return _side_of_runs(queries, named, metric)
    try:
        cell = Cell.from_key(named)
    except (SpecError, ValueError):
        return _side_of_runs(queries, runs_named(queries, named, study), metric)
    rows = queries.compared_of_cell(cell.key, metric)
    if not rows:
        raise SpecError(
            f"There is no attempt of the cell {quoted(named)}: `storebench grid` lists cells and their state"
        )
    gaps = [
        (run, [gap for gap in _to_come(queries, run) if gap["cell_key"] == cell.key])
        for run in queries.open_runs()
    ]
    return _side(
        queries,
        rows,
        [(run, pending) for run, pending in gaps if pending],
        metric,
        runs=tuple(dict.fromkeys(row["run_id"] for row in rows)),
        is_cell=True,
    )


def _side_of_runs(queries: Queries, rows: Iterable[Row], metric: str | None) -> Side:
    runs = {run["id"]: run for run in rows}
    going_on = [run for run in runs.values() if run["state"] == "running"]
    return _side(
        queries,
        [row for run in runs for row in queries.compared_of_run(run, metric)],
        [(run, _to_come(queries, run)) for run in going_on],
        metric,
        runs=tuple(runs),
    )


def runs_named(queries: Queries, name: str, study: str | None = None) -> list[Row]:
    """Return the runs of a side's name, which may be several names separated by commas. Raises SpecError if there are none."""
    return [
        run
        for part in name.split(",")
        for run in (
            queries.runs_of_turns(part, study) if in_turns(part) else [queries.run_named(part, study)]
        )
    ]


def _side(
    queries: Queries,
    rows: Sequence[Row],
    going_on: Sequence[tuple[Row, Sequence[Row]]],
    metric: str | None,
    *,
    runs: tuple[str, ...],
    is_cell: bool = False,
) -> Side:
    """Return a side of these attempts, limited to operations that report the metric.

    `going_on`: the runs that have not ended, each with its pending operations.
    """
    to_come = [
        gap
        for run, gaps in going_on
        for gap in gaps
        if metric is None or metric in scalars_of(queries.study(run["study"]), gap["operation"])
    ]
    return Side(
        queries.reported(rows, metric),
        runs,
        is_cell=is_cell,
        to_come=to_come,
        going_on=tuple(run["airflow_run_id"] for run, _ in going_on),
        pair_of=of_one_cell if is_cell else str,
    )


def _to_come(queries: Queries, run: Row) -> list[Row]:
    """Return the pending operations of a run, without warm-ups."""
    return [gap for gap in queries.gaps(run["id"]) if gap["repeat"] > 0]


def _of_arm(rows: Sequence[Row], arm: str) -> list[Row]:
    return [row for row in rows if (row["arm"] or "BA"[row["repeat"] % 2]) == arm]


def _design_of_runs(before: tuple[str, ...], after: tuple[str, ...]) -> Design:
    """Return the design of two sides of runs. The n-th runs of both sides are matched, since the runs alternated."""
    if len(before) == len(after) == 1:
        return Design("repeats", (_repeat, _repeat), caution=DRIFT if before != after else None)
    if len(before) == len(after):
        return Design("turns", (_number_in(before), _number_in(after)), matched=True)
    return Design("runs", (_run, _run))


def design_of_cells(before: tuple[str, ...], after: tuple[str, ...]) -> Design:
    """Return the design of two cells. Cells are matched if measured in the same run, or in the same round of the only run."""
    if len(before) == len(after) == 1:
        if before == after:
            return Design("rounds", (_repeat, _repeat), matched=True)
        return Design("repeats", (_repeat, _repeat), caution=DRIFT)
    if len(set(before) & set(after)) > 1:
        return Design("runs", (_run, _run), matched=True)
    return Design("runs", (_run, _run))


def _repeat(row: Row) -> Hashable:
    return row["run_id"], row["repeat"]


def _round_of_arm(row: Row) -> Hashable:
    """Return the round of an A/A attempt: each round has two repeats of a cell, one for each arm (storebench.study.order)."""
    return (int(row["repeat"]) + 1) // 2


def _run(row: Row) -> Hashable:
    return str(row["run_id"])


def _number_in(runs: tuple[str, ...]) -> Unit:
    numbers = {run: number for number, run in enumerate(runs)}
    return lambda row: numbers[row["run_id"]]


def _metrics(key: Key, groups: Iterable[Groups]) -> list[str]:
    """Return the names of the metrics that a pair's attempts are ranked by on both sides."""
    return sorted({row["metric"] for group in groups for row in group.get(key, []) if counts(row)})


def lacking(rows: Sequence[Row]) -> str:
    """Return the reason why no attempt of a side counts."""
    if not rows:
        return "none"
    verified = any(row["status"] == "verified" for row in rows)
    return "only disturbed attempts" if verified else "no verified attempt"
