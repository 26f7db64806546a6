"""API models of studies and cell names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storebench.web.models.answers import Answer

Better = Literal["lower", "higher", "neither"]


class Metric(Answer):
    """A metric of attempts."""

    name: str
    title: str
    unit: str
    better: Better
    kind: Literal["scalar", "histogram", "series"]
    by_cover: bool = Field(description="Its figures of a client and of an engine never share a chart")


class Operation(Answer):
    """A step of a cell."""

    name: str
    metrics: list[str] = Field(description="What a verified attempt reports; the first ranks it")
    needs: list[str]


class Axis(Answer):
    """An axis of a study."""

    name: str
    title: str
    description: str
    numeric: bool
    grid: list[str] = Field(description="What a backfill fills")
    where: dict[str, list[str]] = Field(
        description="It means something only for these values of others, or of `store`"
    )


class Store(Answer):
    """A store of a study, with what its pods can do."""

    name: str
    clients: list[str]
    operations: list[str]
    keeps_data: bool
    limit: bool = Field(
        description="No store can be faster with the same client: it leaves out what the others do"
    )
    server: str | None = Field(description="Its connection in Airflow; None: it has no server")
    filled_by: str | None = Field(description="The store that fills it, if it does not do that itself")


class Chart(Answer):
    """A metric of some operations (none: of all that report it), what its colours tell apart, and of what there is a chart each.

    Both are an axis, `store`, `client` or `operation`. Lines are what is left over.
    """

    metric: str
    colour: str
    operations: list[str]
    panel: str
    over: str = Field(
        default="",
        description="Of a series: another one, of the same moments, whose values are along the chart in the place of time",
    )


class Param(Answer):
    """A parameter of a study's own."""

    name: str
    title: str
    description: str


class StudyDataset(Answer):
    """The dataset of a study, with rows and a seed."""

    name: str
    version: int


class Study(Answer):
    """A study as of its last run. `common` are the metrics of all studies."""

    name: str
    title: str
    description: str
    method_version: int
    operations: list[Operation]
    metrics: list[Metric]
    common: list[Metric]
    axes: list[Axis]
    stores: list[Store]
    charts: list[Chart]
    params: list[Param]
    dataset: StudyDataset | None


class CellName(Answer):
    """The name of a cell."""

    cell_key: str
    study: str
    store: str
    client: str
    axes: dict[str, str] = Field(description="Where it is on the axes that mean something for it")
    rows: int
    seed: int
