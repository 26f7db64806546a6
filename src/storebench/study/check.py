"""Find the mistakes in a study when its file is loaded, before anything runs. storebench.declared checks the types."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from storebench.errors import SpecError, did_you_mean
from storebench.fields import Field
from storebench.stores.base import CLIENT as NAME_OF_STORE
from storebench.study.claim import problems_of_claim
from storebench.study.reserved import CLIENT, COLUMNS, DROP, OPERATION, STORE, SUFFIXES, TABLES

if TYPE_CHECKING:
    from storebench.study.model import Axis, Band, Study

# Each view of a study is named by the study's name and one of SUFFIXES. Postgres cuts names after 63 characters.
NAME = re.compile(r"[a-z][a-z0-9_]{0,54}")
NAME_OF_DATASET = re.compile(r"[a-z][a-z0-9_-]{0,62}")
# Characters that would end an axis's value in a cell's key or in a list of values
UNSAFE = re.compile(r"[/,\x00-\x1f]|^\s|\s$")


def problems(study: Study, common: Collection[str]) -> Iterable[str]:
    """Yield the mistakes in a study whose types are right. `common`: names of the metrics that every attempt has."""
    yield from _names("study", [study.name])
    yield from (
        f"{study.name}{suffix} would be a table of the results: give another name"
        for suffix in SUFFIXES
        if study.name + suffix in TABLES
    )
    if not study.stores:
        yield "it has no store"
    yield from (f"the store {name!r} is there twice" for name, n in Counter(study.stores).items() if n > 1)
    yield from (
        f"{name!r} is no name of a store: lower-case letters, digits, _ and -, at most 63"
        for name in study.stores
        if not NAME_OF_STORE.fullmatch(name)
    )
    yield from (
        f"default_stores names {name!r}, which is no store of the study{_near(name, study.stores)}"
        for name in study.default_stores
        if name not in study.stores
    )
    yield from _of_numbers(study)
    yield from _names("parameter", list(study.params))
    for name, field in study.params.items():
        yield from (f"params[{name!r}].{problem}" for problem in field.mistakes())
    for axis in study.axes:
        yield from _of_axis(axis)
    yield from _of_columns(study)
    yield from _of_operations(study)
    yield from _of_charts(study, common)
    yield from _of_tables(study, common)
    for claim in study.claims:
        mistakes = dict.fromkeys(problems_of_claim(study, claim, common))
        yield from (f"the claim {claim.text!r}: {problem}" for problem in mistakes)
    texts = Counter(claim.text for claim in study.claims)
    yield from (f"the claim {text!r} is there twice" for text, n in texts.items() if n > 1)


def problems_of_stores(study: Study) -> Iterable[str]:
    """Yield the mistakes in a study that only the modules of its stores show. Raises SpecError for a store that cannot be loaded."""
    steps = [*(operation.name for operation in study.operations), DROP]
    options: dict[
        str, tuple[str, Field]
    ] = {}  # by the option's name: the first store that declares the option, and the field
    for name in study.stores:
        store = study.store(name)
        yield from (
            f"the store {name!r} has the operation {operation!r}, which is no operation of the study{_near(operation, steps)}"
            for operation in store.operations
            if operation not in steps[:-1]
        )
        yield from (
            f"the store {name!r}: pods[{step!r}] is for no operation of the study{_near(step, steps)}"
            for step in store.pods
            if step not in steps
        )
        yield from (
            f"the store {name!r}: typical is for {typical.operation!r}, which is no operation of the study{_near(typical.operation, steps)}"
            for typical in store.typical
            if typical.operation not in steps[:-1]
        )
        axes = [axis.name for axis in study.axes]
        yield from (
            f"the store {name!r}: typical.times has {place!r}, which is no axis of the study{_near(place, axes)}"
            for typical in store.typical
            for place in typical.times
            if place not in axes
        )
        yield from (
            f"the store {name!r}: lacks has {metric!r}, {problem}"
            for metric, problem in _lacking(study, store.lacks)
        )
        if store.filled_by is not None and store.filled_by not in study.stores:
            near = _near(store.filled_by, study.stores)
            yield f"the store {name!r}: filled_by is {store.filled_by!r}, which is no store of the study{near}"
        for option, field in store.options.items():
            first, known = options.setdefault(option, (name, field))
            if known != field:
                yield f"the stores {first!r} and {name!r} declare the option {option!r} in two ways: declare it once, for both"
    parts = [("axis", axis.name, axis.where) for axis in study.axes]
    parts += [("operation", operation.name, operation.where) for operation in study.operations]
    for kind, name, where in parts:
        yield from (
            f"the {kind} {name!r} is for the client {client!r}, which no store has (where){_near(client, study.clients)}"
            for client in where.get(CLIENT, ())
            if client not in study.clients
        )


def _lacking(study: Study, lacks: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield each metric that a store cannot lack, and the reason."""
    reported = [name for operation in study.operations for name in operation.metrics]
    ranking = {operation.ranked_by for operation in study.operations}
    for metric in lacks:
        if metric not in reported:
            yield metric, f"which no operation reports{_near(metric, reported)}"
        elif metric in ranking:
            yield metric, "which ranks an operation"


def _of_numbers(study: Study) -> Iterable[str]:
    numbers = {"rows": study.rows, "method_version": study.method_version}
    if dataset := study.dataset:
        numbers |= {
            f"dataset.{name}": getattr(dataset, name) for name in ("version", "row_bytes", "max_rows")
        }
        names = {"dataset.name": dataset.name} if dataset.name else {}  # the CSV's ids have no name
        if custom_file := dataset.custom_file:
            numbers |= {
                f"dataset.custom_file.{name}": getattr(custom_file, name) for name in ("version", "max_rows")
            }
            names["dataset.custom_file.name"] = custom_file.name
        yield from (
            f"{what} is {name!r}: lower-case letters, digits, _ and -, a letter first, at most 63"
            for what, name in names.items()
            if not NAME_OF_DATASET.fullmatch(name)
        )
        if study.rows > dataset.max_rows:
            yield f"rows is {study.rows:,}, and dataset.max_rows is {dataset.max_rows:,}"
    yield from (
        f"{what} is {number}, and must be at least 1" for what, number in numbers.items() if number < 1
    )


def _of_axis(axis: Axis) -> Iterable[str]:
    where = f"axes[{axis.name!r}]"
    try:
        re.compile(axis.pattern)
    except re.error as error:
        yield f"{where}.pattern is {axis.pattern!r}, which is no regular expression: {error}"
        return
    for name in ("default", "choices", "grid"):
        values = getattr(axis, name)
        if not values:
            yield f"{where}.{name} has no value"
        yield from (f"{where}.{name} has {value!r} twice" for value, n in Counter(values).items() if n > 1)
        for value in values:
            yield from _of_value(axis, value, f"{where}.{name}")
    if axis.whole is not None:
        yield from _of_value(axis, axis.whole, f"{where}.whole")
    if axis.implied:
        yield from _of_value(axis, axis.implied, f"{where}.implied")
        # Values that mean the whole dataset are found by their text in a cell's key.
        if axis.whole is not None and (axis.implied == axis.whole or axis.implied.isdecimal()):
            yield f"{where}.implied is {axis.implied!r}, which may mean the whole dataset, and must then be in a cell's key"


def _of_value(axis: Axis, value: str, where: str) -> Iterable[str]:
    """Yield the reasons why an axis cannot have a value."""
    try:
        axis.check(value)
    except SpecError as error:
        yield f"{where}: {error}"
    if UNSAFE.search(value):
        yield f"{where}: {value!r} has a slash, a comma, or a space at an end, and would break a cell's key"


def _of_columns(study: Study) -> Iterable[str]:
    """Yield the mistakes in axes and metrics: both become columns of the study's view, beside the columns of all results."""
    axes, metrics = [axis.name for axis in study.axes], [metric.name for metric in study.metrics]
    yield from _names("metric", metrics)
    yield from _names("axis", axes)
    taken = sorted({*axes, *metrics} & COLUMNS)
    yield from (f"{name!r} is a column of all results: give another name" for name in taken)
    if both := sorted({*axes} & {*metrics}):
        yield f"{', '.join(both)}: there is an axis and a metric of that name"
    for place, axis in enumerate(study.axes):
        yield from _of_where(
            study, f"the axis {axis.name!r}", axis.where, study.axes[:place], "no axis before it"
        )
    if study.dataset:
        yield from (
            f"the dataset depends on {name!r}, which is no axis (axes){_near(name, axes)}"
            for name in study.dataset.axes
            if name not in axes
        )


def _of_where(
    study: Study, what: str, where: Mapping[str, Sequence[str]], axes: Sequence[Axis], no_axis: str
) -> Iterable[str]:
    """Yield the mistakes in the `where` of an axis or operation, which may name a value of `axes`, the store and the client."""
    by_name = {axis.name: axis for axis in axes}
    for name, values in where.items():
        if not values:
            yield f"{what}: where[{name!r}] has no value"
        if name not in (known := [STORE, CLIENT, *by_name]):
            yield f"{what} depends on {name!r}, which is {no_axis} (where){_near(name, known)}"
        for value in values if name in by_name else ():
            yield from _of_value(by_name[name], value, f"{what}: where[{name!r}]")
    yield from (
        f"{what} is for the store {name!r}, which is not there (where){_near(name, study.stores)}"
        for name in where.get(STORE, ())
        if name not in study.stores
    )


def _of_operations(study: Study) -> Iterable[str]:
    names = [operation.name for operation in study.operations]
    kinds = {metric.name: metric.kind for metric in study.metrics}
    yield from _names("operation", names)
    if not names:
        yield "it has no operation"
    if DROP in names:
        yield f"{DROP!r} is what removes a cell's data, and cannot be an operation"
    for place, operation in enumerate(study.operations):
        for needed in operation.needs:
            if needed not in names:
                yield f"the operation {operation.name!r} needs {needed!r}, which is not there{_near(needed, names)}"
            elif names.index(needed) >= place:
                yield f"the operation {operation.name!r} needs {needed!r}, which does not come before it"
        yield from (
            f"the metric {name!r} of the operation {operation.name!r} is not among its metrics{_near(name, kinds)}"
            for name in operation.metrics
            if name not in kinds
        )
        what = f"the operation {operation.name!r}"
        yield from _of_where(study, what, operation.where, study.axes, "no axis")
        if not operation.metrics:
            yield f"the operation {operation.name!r} has no metric"
        elif (kind := kinds.get(operation.metrics[0], "scalar")) != "scalar":
            yield f"the first metric of the operation {operation.name!r} ranks it, and {operation.metrics[0]!r} is a {kind}, not a number"


def _of_charts(study: Study, common: Collection[str]) -> Iterable[str]:
    """Yield the mistakes in a study's charts. `common`: names of the metrics that every attempt has."""
    metrics = {*(metric.name for metric in study.metrics), *common}
    operations = {operation.name for operation in study.operations}
    reported = {*common, *(name for operation in study.operations for name in operation.metrics)}
    series = {metric.name for metric in study.metrics if metric.kind == "series"}
    places = {STORE, CLIENT, OPERATION, *(axis.name for axis in study.axes)}
    for chart in study.charts:
        if chart.metric not in metrics:
            yield f"a chart shows {chart.metric!r}, which is not among its metrics{_near(chart.metric, metrics)}"
        elif not chart.operations and chart.metric not in reported:
            yield f"a chart shows {chart.metric!r}, which no operation lists: name the operations that it is of"
        yield from (
            f"a chart of {chart.metric!r} is of {name!r}, which is no operation{_near(name, operations)}"
            for name in chart.operations
            if name not in operations
        )
        yield from (
            f"a chart of {chart.metric!r} tells {name!r} apart, which is no axis ({what}){_near(name, places)}"
            for what, name in (("colour", chart.colour), ("panel", chart.panel))
            if name and name not in places
        )
        if chart.colour == chart.panel:
            yield f"a chart of {chart.metric!r} has {chart.colour!r} as colour and as panel"
        yield from (
            f"a chart draws {chart.metric!r} over {chart.over!r}, and {name!r} is no series of its{_near(name, series)}"
            for name in (chart.metric, chart.over)
            if chart.over and name not in series
        )
        yield from (
            f"a chart draws {chart.metric!r} beside {chart.beside!r}, and {name!r} is no series of its{_near(name, series)}"
            for name in (chart.metric, chart.beside)
            if chart.beside and name not in series
        )
        if chart.since and (chart.metric not in series or chart.since not in metrics - series):
            yield f"a chart of {chart.metric!r} has since={chart.since!r}: the time before needs a series, and a metric that is a number{_near(chart.since, metrics)}"
        if chart.band:
            yield from _of_band(chart.metric, chart.over, chart.band, series, metrics)
        if chart.limit and chart.limit not in study.params:
            yield f"a chart of {chart.metric!r} has the limit {chart.limit!r}, which is no parameter of its runs{_near(chart.limit, study.params)}"


def _of_band(
    metric: str, over: str, band: Band, series: Collection[str], metrics: Collection[str]
) -> Iterable[str]:
    if metric not in series or over:
        yield f"a chart of {metric!r} has a band: this needs a series over time"
    yield from (
        f"a chart of {metric!r}: {end} of its band is {name!r}, which is no metric that is a number{_near(name, metrics)}"
        for end, name in (("begin", band.begin), ("end", band.end))
        if name not in metrics or name in series
    )


def _of_tables(study: Study, common: Collection[str]) -> Iterable[str]:
    """Yield the mistakes in a study's tables. `common`: names of the metrics that every attempt has."""
    scalars = {*(metric.name for metric in study.metrics if metric.kind == "scalar"), *common}
    operations = [operation.name for operation in study.operations]
    axes = [axis.name for axis in study.axes]
    for table in study.tables:
        what = f"the table {table.title!r}"
        if not table.metrics:
            yield f"{what} has no metric"
        if table.axis not in axes:
            yield f"{what} is of {table.axis!r}, which is no axis{_near(table.axis, axes)}"
        yield from (
            f"{what} has {name!r}, which is no metric that is a number{_near(name, scalars)}"
            for name in table.metrics
            if name not in scalars
        )
        yield from (
            f"{what} is of {name!r}, which is no operation{_near(name, operations)}"
            for name in table.operations
            if name not in operations
        )


def _near(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name: the similar known names, or an empty text."""
    meant = did_you_mean(name, known)
    return f".{meant}" if meant else ""


def _names(what: str, names: Sequence[str]) -> Iterable[str]:
    yield from (f"the {what} {name!r} is there twice" for name, n in Counter(names).items() if n > 1)
    yield from (
        f"{name!r} is no name of a {what}: lower-case letters, digits and _, a letter first, at most 55"
        for name in names
        if not NAME.fullmatch(name)
    )
