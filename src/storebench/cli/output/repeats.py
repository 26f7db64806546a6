"""Print a plan of repeats."""

from __future__ import annotations

from rich.console import Console

from storebench.answers.units import NOTHING
from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.table import Studies, places_of
from storebench.results.comparison.repeats import Plan
from storebench.results.statistics.power import MOST_UNITS, POWER
from storebench.study.cell import Cell


def print_plan(console: Console, plan: Plan, studies: Studies) -> None:
    """Print a line for each cell and operation, and the plan."""
    # For two cells, only the operations differ
    keys = [cell.cell for cell in plan.cells]
    names, places = places_of(map(Cell.from_key, keys), studies) if all(keys) else ([], [[] for _ in keys])
    figures = (f"measured {plan.units}", "noise", f"needed {plan.units}")
    print_listing(
        console,
        [*names, Column("operation"), *(Column(heading, number=True) for heading in figures)],
        [
            (
                *place,
                cell.operation,
                f"{cell.n:,}",
                *(
                    (NOTHING, NOTHING)
                    if cell.noise is None
                    else (f"{cell.noise:.1%}", _number(cell.units_needed))
                ),
            )
            for place, cell in zip(places, plan.cells, strict=True)
        ],
    )
    for line in filter(None, (plan.caution, plan_text(plan))):
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def plan_text(plan: Plan) -> str:
    """Return the plan as one or two sentences."""
    text = (
        f"{_number(plan.units_needed)} {plan.units} on each side tell a difference of {plan.difference * 100:g} % with a chance of {POWER:.0%}, in the"
        f" noisiest of these, among {plan.pairs} pairs, with a margin of {plan.margin * 100:g} %"
    )
    unknown = sum(cell.noise is None for cell in plan.cells)
    return text + (f"; the noise of {unknown} operations is not known" if unknown else "")


def _number(needed: int | None) -> str:
    return f"more than {MOST_UNITS:,}" if needed is None else f"{needed:,}"
