"""Print prices as tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from rich.console import Console

from storebench.answers.units import NOTHING, column
from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.table import Studies, places_of
from storebench.results.forecast.price import COVERS, Price
from storebench.study.cell import Cell


def print_prices(console: Console, prices: Iterable[Price], currency: str, studies: Studies) -> None:
    """Print a table for each group of COVERS, with a line for each cell's operation."""
    for (cover, per), group in itertools.groupby(prices, key=lambda price: (price.figures_cover, price.per)):
        group_prices = list(group)
        names, places = places_of((Cell.from_key(price.cell_key) for price in group_prices), studies)
        figures = [
            column([getattr(price, name) for price in group_prices], [""] * len(group_prices))
            for name in ("cpu_hours", "memory_gib_hours", "cost")
        ]
        print_listing(
            console,
            [
                *names,
                Column("operation"),
                Column("n", number=True),
                Column("excluded", number=True),
                Column(f"CPU h/{per}", number=True, needed=False),
                Column(f"memory GiB h/{per}", number=True, needed=False),
                Column(f"{currency}/{per}", number=True),
            ],
            [
                (
                    *place,
                    price.operation,
                    str(price.n),
                    str(price.excluded or NOTHING),
                    *texts,
                )
                for place, price, *texts in zip(places, group_prices, *figures, strict=True)
            ],
            title=COVERS[cover],
        )
