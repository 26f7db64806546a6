"""Find the mistakes in a study when its file is loaded, before anything runs. storebench.declared checks the types."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from storebench.errors import SpecError, near, unknown
from storebench.fields import Field
from storebench.servers.sizes import FIELDS as SIZES
from storebench.stores.base import CLIENT as NAME_OF_STORE
from storebench.study.check_charts import of_charts, of_tables
from storebench.study.claim import Claim
from storebench.study.reserved import CLIENT, COLUMNS, DROP, OPERATION, POD, STORE, SUFFIXES, TABLES

if TYPE_CHECKING:
    from storebench.study.model import Axis, Study

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
        f"default_stores names {name!r}, which is no store of the study{near(name, study.stores)}"
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
    yield from of_charts(study, common)
    yield from of_tables(study, common)
    for claim in study.claims:
        mistakes = dict.fromkeys(_of_claim(study, claim, common))
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
            f"the store {name!r} has the operation {operation!r}, which is no operation of the study{near(operation, steps)}"
            for operation in store.operations
            if operation not in steps[:-1]
        )
        yield from (
            f"the store {name!r}: pods[{step!r}] is for no operation of the study{near(step, steps)}"
            for step in store.pods
            if step not in steps
        )
        yield from (
            f"the store {name!r}: typical is for {typical.operation!r}, which is no operation of the study{near(typical.operation, steps)}"
            for typical in store.typical
            if typical.operation not in steps[:-1]
        )
        axes = [axis.name for axis in study.axes]
        yield from (
            f"the store {name!r}: typical.times has {place!r}, which is no axis of the study{near(place, axes)}"
            for typical in store.typical
            for place in typical.times
            if place not in axes
        )
        yield from (
            f"the store {name!r}: lacks has {metric!r}, {problem}"
            for metric, problem in _lacking(study, store.lacks)
        )
        if store.filled_by is not None and store.filled_by not in study.stores:
            meant = near(store.filled_by, study.stores)
            yield f"the store {name!r}: filled_by is {store.filled_by!r}, which is no store of the study{meant}"
        for option, field in store.options.items():
            first, known = options.setdefault(option, (name, field))
            if known != field:
                yield f"the stores {first!r} and {name!r} declare the option {option!r} in two ways: declare it once, for both"
    parts = [("axis", axis.name, axis.where) for axis in study.axes]
    parts += [("operation", operation.name, operation.where) for operation in study.operations]
    for kind, name, where in parts:
        yield from (
            f"the {kind} {name!r} is for the client {client!r}, which no store has (where){near(client, study.clients)}"
            for client in where.get(CLIENT, ())
            if client not in study.clients
        )


def _lacking(study: Study, lacks: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield each metric that a store cannot lack, and the reason."""
    reported = [name for operation in study.operations for name in operation.metrics]
    ranking = {operation.ranked_by for operation in study.operations}
    for metric in lacks:
        if metric not in reported:
            yield metric, f"which no operation reports{near(metric, reported)}"
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
            f"the dataset depends on {name!r}, which is no axis (axes){near(name, axes)}"
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
            yield f"{what} depends on {name!r}, which is {no_axis} (where){near(name, known)}"
        for value in values if name in by_name else ():
            yield from _of_value(by_name[name], value, f"{what}: where[{name!r}]")
    yield from (
        f"{what} is for the store {name!r}, which is not there (where){near(name, study.stores)}"
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
                yield f"the operation {operation.name!r} needs {needed!r}, which is not there{near(needed, names)}"
            elif names.index(needed) >= place:
                yield f"the operation {operation.name!r} needs {needed!r}, which does not come before it"
        yield from (
            f"the metric {name!r} of the operation {operation.name!r} is not among its metrics{near(name, kinds)}"
            for name in operation.metrics
            if name not in kinds
        )
        what = f"the operation {operation.name!r}"
        yield from _of_where(study, what, operation.where, study.axes, "no axis")
        if not operation.metrics:
            yield f"the operation {operation.name!r} has no metric"
        elif (kind := kinds.get(operation.metrics[0], "scalar")) != "scalar":
            yield f"the first metric of the operation {operation.name!r} ranks it, and {operation.metrics[0]!r} is a {kind}, not a number"


def _of_claim(study: Study, claim: Claim, common: Collection[str]) -> Iterable[str]:
    if not (claim.a or claim.b):
        if not claim.elsewhere:
            yield "it names no cells: give `a` and `b`, or say `elsewhere` why nothing here can test it"
        return
    if not (claim.a and claim.b):
        yield f"only the side {'a' if claim.a else 'b'} names cells"
    if twice := sorted(claim.apart() & {*claim.both}):
        yield f"`both` and a side name {', '.join(twice)}"
    if dataset := sorted({"rows", "seed"} & claim.apart()):
        yield f"{', '.join(dataset)}: both sides must have the same dataset; name it in `both`"
    sides = claim.side("a"), claim.side("b")
    alike = [place for place in claim.a if place in claim.b]
    if all(set(sides[0][place]) & set(sides[1][place]) for place in alike):
        yield "both sides may be the same cells: no place has other values in `a` than in `b`"
    for place, values in dict.fromkeys((*sides[0].items(), *sides[1].items())):
        yield from _of_place(study, place, values)
    yield from _of_ratio(study, claim, common)
    yield from (
        f"it says which server is meant by {name!r}, which is no store"
        for name in claim.servers
        if name not in study.stores
    )


def _of_place(study: Study, place: str, values: Sequence[str]) -> Iterable[str]:
    """Yield the values that a place of a claim cannot have."""
    if not values:
        yield f"it has no value of {place}"
    axes = {axis.name: axis for axis in study.axes}
    if place in axes:
        for value in values:
            try:
                axes[place].check(value)
            except SpecError as error:
                yield str(error)
        return
    known: Collection[str] | None = None
    if place == STORE:
        known, values = study.stores, [value.partition("@")[0] for value in values]
    elif place == OPERATION:
        known = [operation.name for operation in study.operations]
    elif place == CLIENT:
        known = study.clients
    elif place in ("rows", "seed"):
        yield from (f"{place} is a number, not {value!r}" for value in values if not value.isdecimal())
    elif place not in (params := {*study.params_and_options(), *SIZES, *POD}):
        yield str(unknown("place", place, [STORE, CLIENT, OPERATION, "rows", "seed", *axes, *sorted(params)]))
    if known is not None:
        yield from (str(unknown(place, value, known)) for value in values if value not in known)


def _of_ratio(study: Study, claim: Claim, common: Collection[str]) -> Iterable[str]:
    """Yield the mistakes in a claim's metric and in its region of ratios."""
    operations = {operation.name: operation for operation in study.operations}
    named = [
        operations[name]
        for name in dict.fromkeys((*claim.side("a").get(OPERATION, ()), *claim.side("b").get(OPERATION, ())))
        if name in operations
    ]
    if not (claim.side("a").get(OPERATION) and claim.side("b").get(OPERATION)):
        yield "it names no operation"
    if not claim.metric and len({operation.ranked_by for operation in named}) > 1:
        yield "its operations are ranked by different metrics: name the metric"
    scalars = {metric.name for metric in study.metrics if metric.kind == "scalar"}
    for operation in named if claim.metric and claim.metric not in common else ():
        reported = [name for name in operation.metrics if name in scalars]
        if claim.metric not in reported:
            yield f"{unknown('metric', claim.metric, [*reported, *common])}"
    low, high = claim.at_least, claim.at_most
    if low is None and high is None:
        if not claim.elsewhere:
            yield "it has no region of ratios: give `at_least`, `at_most` or both"
    elif min(bound for bound in (low, high) if bound is not None) <= 0:
        yield "a bound of its region is not above 0"
    elif low is not None and high is not None and low > high:
        yield f"its region is empty: at_least {low:g} is above at_most {high:g}"
    if claim.fewest is not None and not 1 <= claim.fewest <= len(list(claim.cases())):
        yield f"fewest is {claim.fewest}, and it names {len(list(claim.cases()))} cases"


def _names(what: str, names: Sequence[str]) -> Iterable[str]:
    yield from (f"the {what} {name!r} is there twice" for name, n in Counter(names).items() if n > 1)
    yield from (
        f"{name!r} is no name of a {what}: lower-case letters, digits and _, a letter first, at most 55"
        for name in names
        if not NAME.fullmatch(name)
    )
