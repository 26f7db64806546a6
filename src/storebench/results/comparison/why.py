"""List what goes along with a verdict: settings and versions that differ, and figures that differ, ranked. No cause is claimed."""

from __future__ import annotations

import statistics
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from storebench.results.comparison.compare import Comparison
from storebench.results.comparison.differences import (
    Difference,
    Environments,
    details_that_differ,
    difference,
    environments_of,
)
from storebench.results.comparison.functions import FUNCTION, TwoSides, functions_of, heaviest
from storebench.results.comparison.sides import Key
from storebench.results.comparison.units import pair_between, units_of
from storebench.results.database.queries import BARRIER, OPERATION, VERIFY, Queries, verified_rows
from storebench.results.statistics.associations import (
    Association,
    Candidate,
    associated,
    has_enough,
    seen,
    varying,
)
from storebench.results.statistics.verdicts import Pair
from storebench.study.cell import Cell
from storebench.study.model import WORK_TOTAL_S

PHASE = "phase"
# The phases of a metric of an operation; other phases are outside the time that such a metric measures.
OF_OPERATION = {OPERATION, BARRIER}
# The phases that the total time of a pod does not include.
OUTSIDE_TOTAL = {"queued", "scheduled", "image_pulled", "container_started", VERIFY}
# Seconds of phases and pods are compared with a metric in seconds only if the metric is at least this share of the operation: a metric such
# as the time of a single request is not.
LEAST_COVER = 0.5


class Figure(NamedTuple):
    """A figure of attempts: `kind` is phase, pods, counter or function. A function is of profiled attempts."""

    kind: str
    name: str
    unit: str


@dataclass(frozen=True)
class Why:
    """The settings and figures that go along with a verdict.

    `figures`: tested figures, then functions of too few profiles for a test. `looked_at`: number of figures that were tested together.
    `too_few`: number of figures that have fewer units than a verdict needs, without functions.
    """

    differences: Sequence[Difference]
    figures: Mapping[Figure, Association]
    looked_at: int
    too_few: int


Measured = dict[uuid.UUID, dict[Figure, float]]


def why(queries: Queries, comparison: Comparison) -> dict[Key, Why]:
    """Return what goes along with each verdict that tells its sides apart."""
    told: dict[Key, TwoSides] = {}
    for key, verdict in comparison.verdicts.items():
        if verdict.tells_apart:
            before, after = (verified_rows(side.get(key, ())) for side in comparison.attempts)
            told[key] = before, after
    rows = [row for sides in told.values() for side in sides for row in side]
    if not rows:
        return {}
    measured: Measured = {}
    for row in queries.accompanying([row["attempt_id"] for row in rows]):
        figure = Figure(row["kind"], row["name"], row["unit"])
        measured.setdefault(row["attempt_id"], {})[figure] = row["value"]
    environments, functions = environments_of(queries, rows), functions_of(queries, told)
    places = _places(queries, [comparison.cells[key] for key in told])
    return {
        key: _of_verdict(
            comparison,
            key,
            sides,
            measured,
            functions[key],
            _settings(comparison.cells[key], places, environments, sides),
        )
        for key, sides in told.items()
    }


def _places(queries: Queries, cells: Iterable[tuple[str, str | None]]) -> dict[str, dict[str, str]]:
    """Return store, client and values on axes of the cells of pairs with different cells, by the cell's key. An axis that does not apply to
    a cell has its implied value.
    """
    keys = [key for pair in cells if len(set(pair)) > 1 for key in pair if key]
    places = {}
    for key, axes in (queries.axes_of(keys, everywhere=True) if keys else {}).items():
        cell = Cell.from_key(key)
        places[key] = {"store": cell.store, "client": cell.client, **axes}
    return places


def _settings(
    cells: tuple[str, str | None],
    places: Mapping[str, Mapping[str, str]],
    environments: Environments,
    sides: TwoSides,
) -> list[Difference]:
    before, after = (places.get(key or "", {}) for key in cells)
    found = [
        one
        for name in dict.fromkeys([*before, *after])
        for one in difference(name, *({side.get(name, "not there")} for side in (before, after)))
    ]
    known = {one.name for one in found}
    return found + [one for one in details_that_differ(environments, *sides) if one.name not in known]


def _of_verdict(
    comparison: Comparison,
    key: Key,
    sides: TwoSides,
    measured: Measured,
    functions: Mapping[str, Pair],
    settings: Sequence[Difference],
) -> Why:
    metric, verdict = comparison.measured[key]["metric"], comparison.verdicts[key]
    before, after = (
        units_of(side, unit_of) for side, unit_of in zip(sides, comparison.design.unit_of, strict=True)
    )
    of_metric = pair_between(before, after, comparison.design, verdict.better)
    assert of_metric is not None  # the pair has a verdict
    add_up = comparison.measured[key]["unit"] == "s" and _covers_operation(sides, measured)
    names = dict.fromkeys(
        figure
        for side in sides
        for row in side
        for figure in measured.get(row["attempt_id"], {})
        if _belongs(figure, metric)
    )
    candidates = {}
    for figure in names:
        one, other = (
            units_of(
                [{**row, "value": measured.get(row["attempt_id"], {}).get(figure)} for row in side], unit_of
            )
            for side, unit_of in zip(sides, comparison.design.unit_of, strict=True)
        )
        pair = pair_between(one, other, comparison.design, "neither")
        if pair is not None:
            candidates[figure] = Candidate(pair, adds_up=add_up and figure.unit == "s")
    of_functions = {
        Figure(FUNCTION, name, "s"): Candidate(pair, adds_up=True)
        for name, pair in (heaviest(functions, verdict) if add_up else {}).items()
    }
    tried = varying(candidates | of_functions, of_metric)
    return Why(
        settings,
        associated(verdict, tried) | seen(verdict, of_functions),
        looked_at=len(tried),
        too_few=len(names) - sum(map(has_enough, candidates.values())),
    )


def _belongs(figure: Figure, metric: str) -> bool:
    """Return whether a figure may explain a metric: phases outside the metric's time may not."""
    if figure.kind != PHASE:
        return True
    return figure.name not in OUTSIDE_TOTAL if metric == WORK_TOTAL_S.name else figure.name in OF_OPERATION


def _covers_operation(sides: TwoSides, measured: Measured) -> bool:
    """Return whether a metric in seconds is the time of its operation, or of more: then seconds of phases and pods are parts of it."""
    operation = Figure(PHASE, OPERATION, "s")
    shares = [
        row["value"] / seconds
        for side in sides
        for row in side
        if (seconds := measured.get(row["attempt_id"], {}).get(operation))
    ]
    return bool(shares) and statistics.median(shares) >= LEAST_COVER
