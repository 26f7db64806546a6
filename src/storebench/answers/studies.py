"""Models of studies and cell names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storebench.answers.base import Answer

Better = Literal["lower", "higher", "neither"]


class Metric(Answer):
    """A metric of attempts."""

    name: str
    title: str
    unit: str
    better: Better
    kind: Literal["scalar", "histogram", "series"]
    by_cover: bool = Field(description="Figures of a client and of an engine never share a chart")


class Operation(Answer):
    """A step of a cell."""

    name: str
    metrics: list[str] = Field(
        description="The metrics that a verified attempt reports; the first metric ranks the operation"
    )
    needs: list[str]


class Axis(Answer):
    """An axis of a study."""

    name: str
    title: str
    description: str
    numeric: bool
    grid: list[str] = Field(description="The axis's values in the grid that a backfill measures")
    where: dict[str, list[str]] = Field(
        description="The axis applies only to these values of other axes, or of `store`"
    )


class Store(Answer):
    """A store of a study, with what its pods can do."""

    name: str
    clients: list[str]
    operations: list[str]
    keeps_data: bool
    limit: bool = Field(description="The store is a floor: no other store can be faster with the same client")
    server: str | None = Field(
        description="The server's connection in Airflow; None if the store has no server"
    )
    filled_by: str | None = Field(description="The store that fills this store, if another store does")


class Chart(Answer):
    """A chart of a metric of some operations; without `operations`, of all operations that report the metric.

    `colour` is what the colours distinguish, and `panel` has a chart for each of its values. Both are an axis, `store`, `client` or
    `operation`. The remaining names are lines.
    """

    metric: str
    colour: str
    operations: list[str]
    panel: str
    over: str = Field(
        default="",
        description="For a series: another series with the same times, whose values replace time on the x-axis",
    )


class Param(Answer):
    """A parameter of the study's runs, beyond the parameters that all studies have."""

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
    axes: dict[str, str] = Field(description="The cell's value on each axis that applies to it")
    rows: int
    seed: int
