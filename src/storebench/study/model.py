"""The model of a study. Each study is a value of `Study`, in its own file in the folder of DAGs; no other code names a study."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ConfigDict, computed_field

from storebench import stores as all_stores
from storebench.declared import MAY_BE_EMPTY, mistakes_of
from storebench.errors import SpecError, quoted, unknown
from storebench.fields import Field
from storebench.stores.base import Store, TypicalTime, split
from storebench.study.check import problems
from storebench.study.claim import Claim
from storebench.study.dataset import FILE, CustomFile, Dataset
from storebench.study.planned import Planning
from storebench.study.reserved import CLIENT, DROP, OPERATION, STORE
from storebench.study.run_params import RunParams, study_values

Better = Literal["lower", "higher", "neither"]
Kind = Literal["scalar", "histogram", "series"]
# How the figures of an operation's parts become one figure: their sum; the largest; the time from the common start to the last part's end; or
# the figure that the leader computes from the whole.
Merge = Literal["sum", "max", "span", "leader"]


def fits(where: Mapping[str, tuple[str, ...]], store: str, client: str, axes: Mapping[str, str]) -> bool:
    """Return whether a store, a client and the values of axes are among the values of `where`; an empty `where` has all."""
    if not where:
        return True
    places = {**axes, STORE: split(store)[0], CLIENT: client}
    return all(places.get(name) in values for name, values in where.items())


@dataclass(frozen=True)
class Axis:
    """A varied parameter whose values are texts that match `pattern`. Its name is the same in cells' keys, the form and the results."""

    name: str
    title: str
    description: str = field(metadata=MAY_BE_EMPTY)
    pattern: str
    hint: str  # what `pattern` means, for people
    default: tuple[str, ...]
    choices: tuple[str, ...]  # the values that a form offers; any text that matches is valid
    grid: tuple[
        str, ...
    ]  # the values that a backfill measures, in order; new values are only added at the end
    # The axis applies only to these places: {"store": ("delta-spark",)}, or to these values of an axis before it
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: str | None = (
        None  # the value that means the whole dataset; the other values are then numbers of rows
    )
    of_copies: bool = False  # True: all values are the same work at servers that hold one copy of the data
    workload: bool = False  # True: its values ask for different work, whose figures are not compared
    # The value of cells that do not name the axis although the axis applies to them: cells measured before the axis existed keep their keys
    implied: str = ""

    @computed_field(description="Whether all values are numbers")  # type: ignore[prop-decorator] # mypy's limit
    @property
    def numeric(self) -> bool:
        """Return whether all values are numbers."""
        return all(value.isdecimal() for value in (*self.default, *self.choices, *self.grid))

    def check(self, value: str) -> str:
        """Return `value`. Raises SpecError unless the axis can have the value."""
        if not re.fullmatch(self.pattern, value):
            raise SpecError(f"{self.title}: {quoted(value)} is not {self.hint}")
        return value

    def repeated(self, values: Iterable[str], rows: int) -> dict[str, str]:
        """Return the values that mean the same as another of `values` in a dataset of `rows` rows, each with the value to keep.

        The value to keep is `whole` if `values` has it, else the first value that means the whole dataset.
        """
        if self.whole is None:
            return {}
        same = [
            value for value in values if value == self.whole or (value.isdecimal() and int(value) >= rows)
        ]
        kept = self.whole if self.whole in same else next(iter(same), None)
        return {value: kept for value in same if kept is not None and value != kept}

    def alike(self, values: Sequence[str]) -> str:
        """Return the value to keep where all `values` are the same work: the default if `values` has it, else the first value."""
        return self.default[0] if self.default[0] in values else values[0]

    def means_something(self, store: str, client: str, axes: Mapping[str, str]) -> bool:
        """Return whether the axis applies to this store and client. `axes`: the values of the axes before this one."""
        return fits(self.where, store, client, axes)


@dataclass(frozen=True)
class Metric:
    """A figure that an attempt reports. The name ends with the unit: `only_s`, `rows_per_s`, `data_bytes`, `busy_share`.

    `better`: the preferred direction; `neither` for a figure that only explains other figures. A scalar is a number. A histogram is merged,
    never averaged. A series is a value over time.
    """

    name: str
    title: str  # in charts: "time in the store's client"
    better: Better = "lower"
    kind: Kind = "scalar"
    by_cover: bool = False  # figures of a client and of an engine never share a chart
    # For operations that several pods do together (`Store.divides`). None: such an operation cannot report the figure. A histogram needs no
    # rule, because counts are added. A series is merged second by second.
    merge: Merge | None = None

    # In the API's description, fields with defaults are always present
    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    @computed_field(description="s, bytes, rows/s, ratio; empty for a plain number")  # type: ignore[prop-decorator] # mypy's limit
    @property
    def unit(self) -> str:
        """Return the unit by the end of the name: s, bytes, rows/s, ratio; empty for a plain number."""
        return unit_of(self.name)


def unit_of(metric: str) -> str:
    """Return the unit of a metric by its name. The function `storebench.unit` of the results database does the same."""
    if match := re.search("([^_]+)_per_([sh])$", metric):
        return f"{'MB' if match[1] == 'mb' else match[1]}/{match[2]}"
    units = {"_s": "s", "_bytes": "bytes", "_share": "ratio"}
    return next((unit for end, unit in units.items() if metric.endswith(end)), "")


# Metrics that the attempts of every study have: columns of the view `results`, for charts.
WORK_TOTAL_S = Metric("work_total_s", "total pod time without verification")
MEMORY = Metric("all_memory_working_set_peak_bytes", "memory", by_cover=True)
CPU_S = Metric("all_cpu_s", "CPU time", by_cover=True)
COMMON = (WORK_TOTAL_S, MEMORY, CPU_S)


@dataclass(frozen=True)
class Operation:
    """A step of a cell."""

    name: str  # also the name of its task
    metrics: tuple[
        str, ...
    ]  # the metrics that a verified attempt reports; the first ranks the operation, tables show two
    needs: tuple[str, ...] = ()  # earlier operations that this operation depends on
    # Only the cells with these values of axes, of these stores and clients, have the operation; empty: all cells of stores that have it.
    # Where an axis does not apply, it has its value `implied`
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def exists_in(self, store: str, client: str, axes: Mapping[str, str]) -> bool:
        """Return whether a cell of this store and client has the operation, if the store has it. `axes`: all values of the cell."""
        return fits(self.where, store, client, axes)

    @property
    def ranked_by(self) -> str:
        """Return the name of the metric that ranks the operation."""
        return self.metrics[0]


@dataclass(frozen=True)
class Band:
    """A stretch of time that a chart of a series shades for each cell, between two moments of the attempt whose series is drawn."""

    begin: str  # the metric with the seconds at which the stretch begins, as the series counts them
    end: str
    title: str  # the name of the stretch in the chart


@dataclass(frozen=True)
class Chart:
    """A chart of a metric. Colours and panels separate the values of two places; lines separate store, client and the remaining axes."""

    metric: str
    colour: str  # an axis, "store", "client" or "operation"
    operations: tuple[str, ...] = ()  # empty: all operations that report the metric
    # The place whose values get a panel each: "operation", an axis, …; "" if the colour is the operation
    panel: str = field(default=OPERATION, metadata=MAY_BE_EMPTY)
    over: str = ""  # for a series: another series of the same moments, drawn along the x axis instead of time
    limit: str = ""  # a parameter of runs that limits the metric, drawn as a line: `slo_ms`, a share, a count
    since: str = (
        ""  # for a series: a metric with the seconds until the measurement begins; the time before is shaded
    )
    beside: str = ""  # for a series: another series of the same moments, drawn against a second axis
    band: Band | None = None  # for a series over time: a stretch of time that is shaded


@dataclass(frozen=True)
class Table:
    """A table of medians: a row for each store, client and value of an axis, and a column for each metric."""

    title: str
    axis: str
    metrics: tuple[str, ...]
    operations: tuple[str, ...] = ()  # empty: all operations


@dataclass(frozen=True)
class Preset:
    """A named set of a run's parameters. `embedded` overrides parameters on the embedded cluster, which is one machine.

    `once`: parameters that apply only if each cell is measured once.
    """

    description: str
    params: Mapping[str, Any]
    embedded: Mapping[str, Any] = field(default_factory=dict)
    once: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Study(Planning):
    """A study: operations on a dataset, against several stores, with varying parameters. `storebench run` uses the first preset by default.

    Raises SpecError for a study that contradicts itself.
    """

    name: str
    title: str
    description: str = field(metadata=MAY_BE_EMPTY)
    stores: tuple[str, ...]
    operations: tuple[Operation, ...]
    metrics: tuple[Metric, ...]  # the study's own metrics, without COMMON
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    axes: tuple[Axis, ...] = ()
    dataset: Dataset | None = None
    rows: int = 1  # the default number of rows of a run
    params: Mapping[str, Field] = field(default_factory=dict)  # parameters beside the stores' options
    presets: Mapping[str, Preset] = field(default_factory=dict)
    method_version: int = 1  # raised when the meaning of a figure changes (docs/method.md)
    claims: tuple[Claim, ...] = ()  # sentences of the original study, judged by the measurements
    default_stores: tuple[str, ...] = ()  # the stores of a run that names none; empty: all stores

    def __post_init__(self) -> None:
        self.refuse(
            list(mistakes_of(self)) or list(problems(self, common={metric.name for metric in COMMON}))
        )

    def refuse(self, mistakes: Sequence[str]) -> None:
        """Raise SpecError with the mistakes in the study. Do nothing without mistakes."""
        if mistakes:
            raise SpecError(f"The study {self.name!r}: {'; '.join(mistakes)}")

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the names of a cell's tasks: the operations, and the drop if any store keeps data."""
        names = tuple(operation.name for operation in self.operations)
        return (*names, DROP) if any(self.store(name).keeps_data for name in self.stores) else names

    def preset(self, name: str) -> Preset:
        """Return the preset `name`. Raises SpecError for an unknown name."""
        if name not in self.presets:
            raise unknown("preset", name, self.presets)
        return self.presets[name]

    def store(self, name: str) -> type[Store]:
        """Return the class of a store by its name (`mongodb@v8` is a mongodb). Raises SpecError for a store of another study."""
        base, _ = split(name)
        if base not in self.stores:
            raise unknown("store", base, self.stores)
        return all_stores.load(self.name, base)

    @property
    def store_names(self) -> tuple[str, ...]:
        """Return the names of the stores, in the study's order."""
        return self.stores

    @property
    def study_params(self) -> Mapping[str, Field]:
        """Return the parameters beside the stores' options."""
        return self.params

    def custom_file(self, params: RunParams) -> CustomFile | None:
        """Return the dataset of a custom file if the run's parameters name a file, else None."""
        return self.dataset.custom_file if self.dataset and study_values(params).get(FILE) else None

    def params_and_options(self) -> dict[str, Field]:
        """Return the parameters of a run that only some studies have: the study's own, and the options of its stores."""
        options = {
            name: option for store in self.stores for name, option in self.store(store).options.items()
        }
        if both := sorted(options.keys() & self.params.keys()):
            raise SpecError(
                f"The study {self.name!r}: a run would have several parameters named {', '.join(both)}"
            )
        return {**self.params, **options}

    def least_s(self, store: str, operation: str, values: Mapping[str, str]) -> float:
        """Return the least seconds of a store's operation. `values`: of the study's parameters and of a cell's axes."""
        return self.store(store).least_s(operation, values)

    def typical_of(self, store: str, operation: str, client: str) -> TypicalTime | None:
        """Return the typical time of an operation of a store's client; None if the store declares none."""
        return self.store(store).typical_of(operation, client)

    def needs_agents(self, store: str, params: RunParams) -> str:
        """Return why a store's attempts need the agents of provisioned servers, with these parameters; empty if they do not."""
        return self.store(store).needs_agents(study_values(params))

    def faults_of(self, store: str) -> tuple[str, ...]:
        """Return the faults of a store's servers (`Store.faults`)."""
        return self.store(store).faults
