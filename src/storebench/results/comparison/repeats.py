"""Plan the number of repeats that detect a difference, from the measured noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storebench.errors import SpecError
from storebench.results.comparison.sides import alike, side_of, sides_of
from storebench.results.database.queries import Queries
from storebench.results.statistics.power import units_for
from storebench.results.statistics.verdicts import MARGIN, effect_of


@dataclass(frozen=True)
class Needed:
    """The plan of a cell's operation: the number of measured units, their noise, and the number of units that each side needs (None: more
    than MOST_UNITS). `cell`: the key of the pair's cell, empty if the sides are two cells. `cell_key`: the key of A's cell.
    """

    cell: str
    cell_key: str
    operation: str
    metric: str
    n: int
    noise: float | None
    units_needed: int | None


@dataclass(frozen=True)
class Plan:
    """A plan. `units_needed`: units per side that detect the difference in all `cells` with known noise; None: more than MOST_UNITS."""

    units_needed: int | None
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
    named as in `storebench.results.comparison.sides.sides_of`. Raises SpecError for a difference within the margin, and if no noise is known.
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
    measured_pairs, _ = sides.pairs()
    groups, _ = sides.groups
    count = pairs or len(measured_pairs)
    cells = []
    keys = sides.cells_of(measured_pairs)
    for (cell, operation), pair in measured_pairs.items():
        noise, needed = None, None
        if effect := effect_of(pair):
            noise = effect.noise.deviation
            needed = units_for(effect.noise, 1 + difference, pairs=count, margin=margin)
        measured = groups[cell, operation][0]["metric"]
        cells.append(
            Needed(cell, keys[cell, operation][0], operation, measured, len(pair.before), noise, needed)
        )
    all_needed = [cell.units_needed for cell in cells if cell.noise is not None]
    if not all_needed:
        raise SpecError("The noise is unknown: at least two verified repeats of a cell are needed")
    return Plan(
        units_needed=None if None in all_needed else max(filter(None, all_needed)),
        units=sides.design.units,
        difference=difference,
        margin=margin,
        pairs=count,
        cells=cells,
        caution=sides.design.caution,
    )
