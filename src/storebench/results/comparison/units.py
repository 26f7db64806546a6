"""Group the attempts of a side into independent units, and pair the units of both sides."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

from storebench.results.database.connection import Row
from storebench.results.database.queries import verified_values
from storebench.results.statistics.intervals import Values
from storebench.results.statistics.verdicts import Pair
from storebench.study.model import Better

Unit = Callable[[Row], Hashable]

DRIFT = (
    "One run on each side: a drift of the machine between the two runs looks like a difference. Alternate the runs of both"
    " sides, so that a drift affects them alike: storebench compare A1,A2,A3,A4,A5 B1,B2,B3,B4,B5"
)


@dataclass(frozen=True)
class Design:
    """The unit of a side. `units` is the units' name; matched units of both sides have the same value.

    `caution`: a possible error that the design does not exclude; None if a verdict can be trusted.
    """

    units: str
    unit_of: tuple[Unit, Unit]
    matched: bool = False
    caution: str | None = None


def units_of(rows: Iterable[Row], unit_of: Unit) -> dict[Hashable, Values]:
    """Return the figures of verified repeats by unit."""
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        groups.setdefault(unit_of(row), []).append(row)
    return {unit: values for unit, group in groups.items() if (values := verified_values(group))}


def pair_between(
    before: Mapping[Hashable, Values], after: Mapping[Hashable, Values], design: Design, better: Better
) -> Pair | None:
    """Return the pair of two sides' units; None if the design matches units, and no unit has both sides."""
    if not design.matched:
        return Pair(list(before.values()), list(after.values()), better=better)
    common = [unit for unit in before if unit in after]
    if not common:
        return None
    return Pair(
        [before[unit] for unit in common], [after[unit] for unit in common], matched=True, better=better
    )
