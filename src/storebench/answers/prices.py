"""Build the answer about prices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, Field, RootModel

from storebench.answers.figures import named
from storebench.answers.studies import CellName
from storebench.results.forecast import demand as demand_domain
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


class Span(BaseModel):
    """A figure at the median rate, and at both ends of the rate's 95 % interval, which are null without an interval."""

    median: float
    low: float | None
    high: float | None


class Demand(CellName):
    """The servers that a required rate needs, and their cost per hour. A set is all servers that the run provisioned for the cell."""

    operation: str
    metric: str
    required_per_s: float
    sizes: dict[str, Any] = Field(description="Parameters of the run that set the servers' sizes")
    n: int
    excluded: int = Field(
        description="Attempts that are not verified, were disturbed, lack the metric, or were limited by their client"
    )
    rate_per_s: Span | None = Field(description="The rate of one set")
    set_cores: float | None = Field(description="Cores that one set kept busy at its rate")
    set_gib: float | None = Field(description="Peak working set of one set, GiB")
    sets: Span | None
    cores: Span | None
    gib: Span | None
    cost_per_hour: Span | None
    currency: str


class Demands(RootModel[list[Demand]]):
    """The servers that a required rate needs, by cell, operation and size of servers."""


def demands_answer(
    demands: Iterable[demand_domain.Demand], metric: str, required_per_s: float, currency: str
) -> Demands:
    """Build the answer about the servers that a required rate needs."""
    return Demands([_demand_answer(demand, metric, required_per_s, currency) for demand in demands])


def _demand_answer(demand: demand_domain.Demand, metric: str, required_per_s: float, currency: str) -> Demand:
    rate = demand.rate_per_s
    interval = rate.interval if rate else None
    shown = rate and {
        "median": rate.median,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }
    return Demand.model_validate(
        {
            **asdict(demand),
            **named(demand.cell_key),
            "rate_per_s": shown,
            "metric": metric,
            "required_per_s": required_per_s,
            "currency": currency,
        }
    )
