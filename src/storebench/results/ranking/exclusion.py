"""Choose the attempts of a cell that are ranked, and find the reasons to exclude a cell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import Any

from storebench.errors import unknown
from storebench.results.comparison.sides import lacking
from storebench.results.database.connection import Row
from storebench.results.database.measurements import UNKNOWN, guarantee_of
from storebench.results.database.queries import counts, verified_rows, verified_values
from storebench.results.runs.conditions import conditions_of, describe_conditions, id_of
from storebench.results.runs.summary import GROUP
from storebench.results.statistics.intervals import Summary, summarize
from storebench.stores.base import split
from storebench.study.cell import Cell
from storebench.study.record import StudyRecord

# Reasons to exclude a cell that was measured soundly. A question may include such cells.
FLOOR, BOUND, SERVICE_BOUND, UNLIKE = "floor", "client-bound", "service-bound", "unlike"
INCLUDED = (FLOOR, BOUND, SERVICE_BOUND, UNLIKE)
FEW = "few"  # no reason to exclude a cell, but a ranked cell has it as a remark
DISTURBED, UNVERIFIED, ELSEWHERE, UNREPORTED = "disturbed", "not verified", "elsewhere", "not reported"
Group = tuple[Any, ...]

MOST_BOUND = 0.5  # from this share of bound attempts, the median shows the client's or the service's limit


@dataclass(frozen=True)
class Exclusion:
    """A reason to exclude a cell, or the difference of a ranked cell from others: a name from the constants above, and its text."""

    reason: str
    text: str


@dataclass(frozen=True)
class Measured:
    """The figures of a cell's operation in one environment, over all runs.

    `rows`: the newest tries. `summary`: None if no try counts. `guarantee`: the delivery, or else the durability; UNKNOWN if tries differ, None if
    the operation states neither.
    """

    cell: Cell
    rows: Sequence[Row]
    summary: Summary | None
    guarantee: str | None

    @cached_property
    def counted(self) -> list[Row]:
        """Return the attempts that count."""
        return verified_rows(self.rows)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Return the ids of the runs of the attempts that count."""
        return tuple(dict.fromkeys(row["run_id"] for row in self.counted))


@dataclass(frozen=True)
class Environment:
    """Conditions of measurements, with the number of measured cells and the time of the newest attempt."""

    id: str
    text: str
    cells: int
    newest_at: datetime


class Environments:
    """The attempts of several cells' operation, grouped by their conditions."""

    def __init__(
        self, study: StudyRecord, rows: Iterable[Row], environments: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._rows: dict[str, list[Row]] = defaultdict(list)
        self._counted: dict[str, dict[Group, list[Row]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            self._rows[row["cell_key"]].append(row)
            if counts(row):
                self._counted[row["cell_key"]][_group(row)].append(row)
        self._ids: dict[Group, str] = {}
        self._texts: dict[str, str] = {}
        for group, of_group in (
            (group, rows[0]) for groups in self._counted.values() for group, rows in groups.items()
        ):
            if group not in self._ids:
                conditions = conditions_of(
                    study, of_group, environments.get(of_group["environment_hash"] or "", {})
                )
                self._ids[group] = id_of(conditions)
                self._texts[self._ids[group]] = describe_conditions(conditions)

    @cached_property
    def known(self) -> list[Environment]:
        """Return the environments, sorted by number of cells, then by age, the newest first."""
        cells: dict[str, set[str]] = defaultdict(set)
        newest_at: dict[str, datetime] = {}
        for key, groups in self._counted.items():
            for group, rows in groups.items():
                environment_id, newest = self._ids[group], _newest(rows)["recorded_at"]
                cells[environment_id].add(key)
                newest_at[environment_id] = max(newest, newest_at.get(environment_id, newest))
        environments = [
            Environment(environment_id, self._texts[environment_id], len(keys), newest_at[environment_id])
            for environment_id, keys in cells.items()
        ]
        return sorted(
            environments, key=lambda environment: (environment.cells, environment.newest_at), reverse=True
        )

    def chosen(self, name: str | None) -> Environment | None:
        """Return the environment `name`, or else the first; None if no attempt counts. Raises SpecError for an unknown name."""
        known = {environment.id: environment for environment in self.known}
        if name is None:
            return next(iter(known.values()), None)
        if name not in known:
            raise unknown("environment", name, known)
        return known[name]

    def measured(self, cell: Cell, environment: Environment | None, *, by_cover: bool) -> Measured:
        """Return the figures of a cell in an environment, with the newest server, image and parameters."""
        rows, groups = self._rows[cell.key], self._counted[cell.key]
        here = [group for group in groups if environment and self._ids[group] == environment.id]
        if not here:
            return Measured(cell, rows, None, None)
        group = _group(_newest(row for group in here for row in groups[group]))
        # an attempt that failed early has no environment
        rows = [row for row in rows if _group(row) == group or row["environment_hash"] is None]
        values = verified_values(rows)
        return Measured(
            cell, rows, summarize(values) if values else None, _guarantee(rows, by_cover=by_cover)
        )

    def missing(self, measured: Measured) -> Exclusion | None:
        """Return why a cell has no figures to rank; None if it has figures."""
        if measured.summary is not None:
            return None
        counted = [row for row in measured.rows if counts(row)]
        elsewhere = [row for row in counted if row["value"] is not None]
        if elsewhere:
            conditions_text = self._texts[self._ids[_group(_newest(elsewhere))]]
            return Exclusion(ELSEWHERE, f"measured in other environments only: {conditions_text}")
        if counted:
            return Exclusion(UNREPORTED, "no attempt has reported this figure")
        disturbed = [row["disturbed"] for row in measured.rows if row["status"] == "verified"]
        if disturbed:
            return Exclusion(DISTURBED, f"{lacking(measured.rows)}: {disturbed[-1]}")
        error_kinds = [row["error_kind"] for row in measured.rows if row["error_kind"]]
        return Exclusion(UNVERIFIED, ": ".join([lacking(measured.rows), *error_kinds[-1:]]))


def is_floor(study: StudyRecord, measured: Measured) -> bool:
    """Return whether the cell's store is a floor, which only shows the limit of a client."""
    floors = {store.name for store in study.stores if store.floor}
    return split(measured.cell.store)[0] in floors


def unfair(study: StudyRecord, measured: Measured) -> list[Exclusion]:
    """Return the reasons to exclude a measured cell, apart from delivery and durability."""
    exclusions = []
    if is_floor(study, measured):
        exclusions.append(Exclusion(FLOOR, "it is the floor: the client without a store"))
    for reason, column, text in (
        (BOUND, "client_bound", "its client was the limit, not the server"),
        (SERVICE_BOUND, "service_bound", "the service in front of it was the limit, not the store"),
    ):
        bound = sum(bool(row[column]) for row in measured.counted)
        if bound and bound >= MOST_BOUND * len(measured.counted):
            exclusions.append(Exclusion(reason, f"{text}: {bound} of {len(measured.counted)} attempts"))
    return exclusions


def few(measured: Measured) -> list[Exclusion]:
    """Return the remark that a measured cell has too few attempts for an interval, if it has."""
    summary = measured.summary
    if summary is None or summary.interval is not None:
        return []
    return [Exclusion(FEW, f"too few attempts for an interval: {summary.n}")]


def partly(measured: Measured) -> list[str]:
    """Return the remark that only some attempts reported the figure, if so: attempts without it are not in the median."""
    n, counted = len(measured.counted), sum(1 for row in measured.rows if counts(row))
    return [f"{n} of {counted} reported this figure"] if n < counted else []


def guarantees_of(measured_cells: Iterable[Measured]) -> Counter[str]:
    """Count the cells by known delivery or durability."""
    return Counter(
        measured.guarantee for measured in measured_cells if measured.guarantee not in (None, UNKNOWN)
    )


def unlike(measured: Measured, guarantee: str | None) -> Exclusion | None:
    """Return the reason if a cell differs from `guarantee` in delivery or durability, else None."""
    if measured.guarantee == guarantee and guarantee != UNKNOWN:
        return None
    delivers = any(row["delivers"] for row in measured.rows)
    what, unknown_guarantee = (
        ("delivers", "an unknown form") if delivers else ("guarantees", "an unknown durability")
    )
    guarantee_text = unknown_guarantee if measured.guarantee in (None, UNKNOWN) else measured.guarantee
    return Exclusion(UNLIKE, f"{what} {guarantee_text}" + (f", and not {guarantee}" if guarantee else ""))


_group: Callable[[Row], Group] = itemgetter(
    *(name for name in GROUP if name not in ("cell_key", "operation"))
)  # figures of a cell's operation are combined if these columns are equal


def _newest(rows: Iterable[Row]) -> Row:
    return max(rows, key=itemgetter("recorded_at"))


def _guarantee(rows: Sequence[Row], *, by_cover: bool) -> str | None:
    counted = [row for row in rows if counts(row)]
    guarantee = guarantee_of(counted)
    if not by_cover or guarantee == UNKNOWN:
        return guarantee
    covers = {row["figures_cover"] for row in counted}
    if len(covers) > 1 or None in covers:
        return UNKNOWN
    return ", ".join(text for text in (guarantee, f"figures of the {covers.pop()}") if text)
