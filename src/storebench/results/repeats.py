"""Plan the number of repeats that detect a difference, from the measured noise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Console

from storebench.errors import SpecError
from storebench.results.listing import NOTHING, Column, print_listing
from storebench.results.power import MOST_UNITS, POWER, units_for
from storebench.results.queries import Queries
from storebench.results.sides import alike, side_of, sides_of
from storebench.results.table import places_of
from storebench.results.verdicts import MARGIN, effect_of
from storebench.study.cell import Cell


@dataclass(frozen=True)
class Needed:
    """The plan of a cell's operation: the number of measured units, their noise, and the number of units that each side needs (None: more
    than MOST_UNITS).
    """

    cell: str
    operation: str
    metric: str
    n: int
    noise: float | None
    needed: int | None


@dataclass(frozen=True)
class Plan:
    """A plan. `needed`: units per side that detect the difference in all `cells` with known noise; None: more than MOST_UNITS."""

    needed: int | None
    units: str
    difference: float
    margin: float
    pairs: int
    cells: Sequence[Needed]
    caution: str | None


def plan_repeats(
    queries: Queries,
    before: str,
    after: str | None,
    *,
    difference: float,
    margin: float = MARGIN,
    pairs: int | None = None,
    metric: str | None = None,
    study: str | None = None,
) -> Plan:
    """Plan a comparison from the noise of two measured sides, or of a single side as a model of both.

    `pairs`: the number of planned pairs; None: as many as measured. `metric`: None for the metric that ranks each operation. Sides are
    named as in `storebench.results.sides.sides_of`. Raises SpecError for a difference within the margin, and if no noise is known.
    """
    if difference <= margin:
        raise SpecError(
            f"A difference of {difference * 100:g} % does not count with a margin of {margin * 100:g} %: plan a larger one, or"
            " with a smaller margin"
        )
    sides = (
        alike(side_of(queries, before, metric, study))
        if after is None
        else sides_of(queries, before, after, metric, study)
    )
    found, _ = sides.pairs()
    groups, _ = sides.groups
    count = pairs or len(found)
    cells = []
    for (cell, operation), pair in found.items():
        noise, needed = None, None
        if effect := effect_of(pair):
            noise = effect.noise.deviation
            needed = units_for(effect.noise, 1 + difference, pairs=count, margin=margin)
        measured = groups[cell, operation][0]["metric"]
        cells.append(Needed(cell, operation, measured, len(pair.before), noise, needed))
    all_needed = [one.needed for one in cells if one.noise is not None]
    if not all_needed:
        raise SpecError("The noise is not known: two verified repeats of a cell are needed at least")
    return Plan(
        needed=None if None in all_needed else max(filter(None, all_needed)),
        units=sides.design.units,
        difference=difference,
        margin=margin,
        pairs=count,
        cells=cells,
        caution=sides.design.caution,
    )


def plan_text(plan: Plan) -> str:
    """Return the plan as one or two sentences."""
    text = (
        f"{_number(plan.needed)} {plan.units} on each side tell a difference of {plan.difference * 100:g} % with a chance of {POWER:.0%}, in the"
        f" noisiest of these, among {plan.pairs} pairs, with a margin of {plan.margin * 100:g} %"
    )
    unknown = sum(one.noise is None for one in plan.cells)
    return text + (f"; the noise of {unknown} operations is not known" if unknown else "")


def plan_json(plan: Plan) -> str:
    """Return the plan as one JSON object."""
    return json.dumps({**asdict(plan), "power": POWER}, indent=2)


def print_plan(console: Console, plan: Plan) -> None:
    """Print a line for each cell and operation, and the plan."""
    # For two cells, only the operations differ
    keys = [one.cell for one in plan.cells]
    names, places = places_of(map(Cell.from_key, keys)) if all(keys) else ([], [[] for _ in keys])
    figures = (f"measured {plan.units}", "noise", f"needed {plan.units}")
    print_listing(
        console,
        [*names, Column("operation"), *(Column(heading, number=True) for heading in figures)],
        [
            (
                *place,
                one.operation,
                f"{one.n:,}",
                *((NOTHING, NOTHING) if one.noise is None else (f"{one.noise:.1%}", _number(one.needed))),
            )
            for place, one in zip(places, plan.cells, strict=True)
        ],
    )
    for line in filter(None, (plan.caution, plan_text(plan))):
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def _number(needed: int | None) -> str:
    return f"more than {MOST_UNITS:,}" if needed is None else f"{needed:,}"
