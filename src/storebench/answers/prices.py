"""Build the answer about prices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field, RootModel

from storebench.answers.figures import named
from storebench.answers.studies import CellName
from storebench.results.forecast import price as domain


class Price(CellName):
    """The CPU and memory hours of a cell's operation, and their cost: medians of the `n` counted attempts."""

    operation: str
    figures_cover: Literal["client", "engine"] | None = Field(
        description="What the figures cover: a client without its server, or the engine itself"
    )
    n: int
    excluded: int = Field(
        description="Number of attempts that are not verified, were disturbed, or lack CPU or time without verification"
    )
    per: domain.Per = Field(
        description="The unit of hours and cost: 10^9 bytes of the dataset, or an attempt"
    )
    cpu_hours: float | None
    memory_gib_hours: float | None
    cost: float | None
    currency: str


class Prices(RootModel[list[Price]]):
    """Prices, the cheapest first within each group of `figures_cover` and operation."""


def prices_answer(prices: Iterable[domain.Price], currency: str) -> Prices:
    """Build the answer about prices."""
    return Prices(
        [
            Price.model_validate({**named(price.cell_key), **vars(price), "currency": currency})
            for price in prices
        ]
    )
