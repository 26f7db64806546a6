"""Print the servers that a required rate needs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from storebench.answers.units import NOTHING, figure_text
from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.table import Studies, places_of
from storebench.results.forecast.demand import Demand, Span
from storebench.study.cell import Cell


def print_demands(
    console: Console, demands: Sequence[Demand], rate_per_s: float, currency: str, studies: Studies
) -> None:
    """Print a line for each cell's operation and size of servers."""
    names, places = places_of((Cell.from_key(demand.cell_key) for demand in demands), studies)
    columns = [
        *names,
        Column("operation"),
        Column("servers"),
        Column("n", number=True),
        Column("excluded", number=True),
        Column("rate of a set, per s", number=True),
        Column("95 % interval", number=True),
        Column("cores of a set", number=True, needed=False),
        Column("GiB of a set", number=True, needed=False),
        Column("sets", number=True),
        Column("cores", number=True, needed=False),
        Column("GiB", number=True, needed=False),
        Column(f"{currency}/h", number=True),
    ]
    rows = [
        (
            *place,
            demand.operation,
            " ".join(f"{name.removeprefix('server_')}={value}" for name, value in demand.sizes.items())
            or NOTHING,
            str(demand.n),
            str(demand.excluded or NOTHING),
            figure_text(demand.rate_per_s.median if demand.rate_per_s else None, ""),
            _interval(demand),
            figure_text(demand.set_cores, ""),
            figure_text(demand.set_gib, ""),
            *map(_span, (demand.sets, demand.cores, demand.gib, demand.cost_per_hour)),
        )
        for place, demand in zip(places, demands, strict=True)
    ]
    print_listing(
        console,
        columns,
        rows,
        title=f"Servers for {rate_per_s:,.6g} per second, if the rates of several sets of servers add up",
    )


def _interval(demand: Demand) -> str:
    rate = demand.rate_per_s
    if rate is None or rate.interval is None:
        return NOTHING
    return f"{figure_text(rate.interval.low, '')} to {figure_text(rate.interval.high, '')}"


def _span(span: Span | None) -> str:
    if span is None:
        return NOTHING
    if span.low is None or span.high is None:
        return figure_text(span.median, "")
    ends = figure_text(span.low, ""), figure_text(span.high, "")
    return ends[0] if len(set(ends)) == 1 else " to ".join(ends)
