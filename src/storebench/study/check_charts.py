"""Find the mistakes in what a study shows: its charts and tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from storebench.errors import near
from storebench.study.reserved import CLIENT, OPERATION, STORE

if TYPE_CHECKING:
    from storebench.study.model import Band, Study


def of_charts(study: Study, common: Collection[str]) -> Iterable[str]:
    """Yield the mistakes in a study's charts. `common`: names of the metrics that every attempt has."""
    metrics = {*(metric.name for metric in study.metrics), *common}
    operations = {operation.name for operation in study.operations}
    reported = {*common, *(name for operation in study.operations for name in operation.metrics)}
    series = {metric.name for metric in study.metrics if metric.kind == "series"}
    places = {STORE, CLIENT, OPERATION, *(axis.name for axis in study.axes)}
    for chart in study.charts:
        if chart.metric not in metrics:
            yield f"a chart shows {chart.metric!r}, which is not among its metrics{near(chart.metric, metrics)}"
        elif not chart.operations and chart.metric not in reported:
            yield f"a chart shows {chart.metric!r}, which no operation lists: name the operations that it is of"
        yield from (
            f"a chart of {chart.metric!r} is of {name!r}, which is no operation{near(name, operations)}"
            for name in chart.operations
            if name not in operations
        )
        yield from (
            f"a chart of {chart.metric!r} tells {name!r} apart, which is no axis ({what}){near(name, places)}"
            for what, name in (("colour", chart.colour), ("panel", chart.panel))
            if name and name not in places
        )
        if chart.colour == chart.panel:
            yield f"a chart of {chart.metric!r} has {chart.colour!r} as colour and as panel"
        yield from (
            f"a chart draws {chart.metric!r} over {chart.over!r}, and {name!r} is no series of its{near(name, series)}"
            for name in (chart.metric, chart.over)
            if chart.over and name not in series
        )
        yield from (
            f"a chart draws {chart.metric!r} beside {chart.beside!r}, and {name!r} is no series of its{near(name, series)}"
            for name in (chart.metric, chart.beside)
            if chart.beside and name not in series
        )
        if chart.since and (chart.metric not in series or chart.since not in metrics - series):
            yield f"a chart of {chart.metric!r} has since={chart.since!r}: the time before needs a series, and a metric that is a number{near(chart.since, metrics)}"
        if chart.band:
            yield from _of_band(chart.metric, chart.over, chart.band, series, metrics)
        if chart.limit and chart.limit not in study.params:
            yield f"a chart of {chart.metric!r} has the limit {chart.limit!r}, which is no parameter of its runs{near(chart.limit, study.params)}"


def _of_band(
    metric: str, over: str, band: Band, series: Collection[str], metrics: Collection[str]
) -> Iterable[str]:
    if metric not in series or over:
        yield f"a chart of {metric!r} has a band: this needs a series over time"
    yield from (
        f"a chart of {metric!r}: {end} of its band is {name!r}, which is no metric that is a number{near(name, metrics)}"
        for end, name in (("begin", band.begin), ("end", band.end))
        if name not in metrics or name in series
    )


def of_tables(study: Study, common: Collection[str]) -> Iterable[str]:
    """Yield the mistakes in a study's tables. `common`: names of the metrics that every attempt has."""
    scalars = {*(metric.name for metric in study.metrics if metric.kind == "scalar"), *common}
    operations = [operation.name for operation in study.operations]
    axes = [axis.name for axis in study.axes]
    for table in study.tables:
        what = f"the table {table.title!r}"
        if not table.metrics:
            yield f"{what} has no metric"
        if table.axis not in axes:
            yield f"{what} is of {table.axis!r}, which is no axis{near(table.axis, axes)}"
        yield from (
            f"{what} has {name!r}, which is no metric that is a number{near(name, scalars)}"
            for name in table.metrics
            if name not in scalars
        )
        yield from (
            f"{what} is of {name!r}, which is no operation{near(name, operations)}"
            for name in table.operations
            if name not in operations
        )
