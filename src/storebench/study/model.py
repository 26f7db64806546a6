"""What is asked: a study is a value of `Study`, in a file of its own in the folder of DAGs. Nothing else knows one study from another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from storebench import stores as all_stores
from storebench.declared import MAY_BE_EMPTY, mistakes_of
from storebench.errors import SpecError, unknown
from storebench.fields import Field
from storebench.stores.base import Store, split
from storebench.study.cell import Cell
from storebench.study.check import problems
from storebench.study.claim import Claim
from storebench.study.dataset import FILE, Dataset, File
from storebench.study.reserved import CLIENT, DROP, OPERATION, STORE

Better = Literal["lower", "higher", "neither"]
Kind = Literal["scalar", "histogram", "series"]


@dataclass(frozen=True)
class Axis:
    """What is varied: its values are texts that match `pattern`. Its name is the same in a cell's key, the form and the results."""

    name: str
    title: str
    description: str = field(metadata=MAY_BE_EMPTY)
    pattern: str
    hint: str  # what `pattern` means, for people
    default: tuple[str, ...]
    choices: tuple[str, ...]  # what a form offers; any text that matches is valid
    grid: tuple[str, ...]  # what a backfill fills, in the order of coming: only ever added to, at the end
    # It means something only there: {"store": ("delta-spark",)}, or by the value of an axis before it
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: str | None = None  # the value that is the whole dataset; numbers are then rows of it
    of_copies: bool = False  # its values are the same work where servers hold one copy of the data
    workload: bool = False  # True: its values ask for different work, whose figures are not compared

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return all(value.isdecimal() for value in (*self.default, *self.choices, *self.grid))

    def check(self, value: str) -> str:
        """Return `value` if it is one of this axis; raises SpecError if not."""
        if not re.fullmatch(self.pattern, value):
            raise SpecError(f"{self.title}: {value!r} is not {self.hint}")
        return value

    def repeated(self, values: Iterable[str], rows: int) -> dict[str, str]:
        """Those of these values that mean the same as another one of them in a dataset of so many rows, each with that one: `whole`
        where it is among them, or else the first.
        """
        if self.whole is None:
            return {}
        same = [
            value for value in values if value == self.whole or (value.isdecimal() and int(value) >= rows)
        ]
        kept = self.whole if self.whole in same else next(iter(same), None)
        return {value: kept for value in same if kept is not None and value != kept}

    def alike(self, values: Sequence[str]) -> str:
        """Return the one of these values that stands for all where they are the same work: the default if it is among them, else the first."""
        return self.default[0] if self.default[0] in values else values[0]

    def means_something(self, store: str, client: str, axes: Mapping[str, str]) -> bool:
        """Whether it does at this store and client, and these values of the axes before it."""
        if not self.where:
            return True
        places = {**axes, STORE: split(store)[0], CLIENT: client}
        return all(places.get(name) in values for name, values in self.where.items())


@dataclass(frozen=True)
class Metric:
    """What an attempt reports. The name ends with its unit: `only_s`, `rows_per_s`, `data_bytes`, `busy_share`.

    `better`: which way is better; `neither` for a figure that only explains others. A scalar is a number, a histogram is merged and
    never averaged, and a series is a value over time.
    """

    name: str
    title: str  # in charts: "time in the store's client"
    better: Better = "lower"
    kind: Kind = "scalar"
    by_cover: bool = False  # figures of a client and of an engine never share a chart

    @property
    def unit(self) -> str:
        """By the end of its name: s, bytes, rows/s, ratio; empty for a plain number."""
        return unit_of(self.name)


def unit_of(metric: str) -> str:
    """The unit of the metric of this name. The function `storebench.unit` of the results database does the same."""
    if found := re.search("([^_]+)_per_s$", metric):
        return f"{'MB' if found[1] == 'mb' else found[1]}/s"
    units = {"_s": "s", "_bytes": "bytes", "_share": "ratio"}
    return next((unit for end, unit in units.items() if metric.endswith(end)), "")


# What every attempt has, whatever the study: columns of the view `results`, for charts.
WORK_TOTAL_S = Metric("work_total_s", "total pod time without verification")
MEMORY = Metric("all_memory_working_set_peak_bytes", "memory", by_cover=True)
CPU_S = Metric("all_cpu_s", "CPU time", by_cover=True)
COMMON = (WORK_TOTAL_S, MEMORY, CPU_S)


@dataclass(frozen=True)
class Operation:
    """A step of a cell."""

    name: str  # that of its task, too
    metrics: tuple[str, ...]  # what a verified attempt reports; the first ranks it, tables show two
    needs: tuple[str, ...] = ()  # operations before it without which it is not run

    @property
    def ranked_by(self) -> str:
        """The metric that stands for it."""
        return self.metrics[0]


@dataclass(frozen=True)
class Chart:
    """A metric, and what its colours and panels tell apart. Its lines are store, client and the axes that are left over."""

    metric: str
    colour: str  # an axis, "store", "client" or "operation"
    operations: tuple[str, ...] = ()  # none: all that report it
    # A chart for each; an axis; "" if the colour is the operation
    panel: str = field(default=OPERATION, metadata=MAY_BE_EMPTY)
    over: str = ""  # of a series: another one, of the same moments, whose values are along the chart in the place of time


@dataclass(frozen=True)
class Preset:
    """Parameters of a run that have a name together; those of `embedded` take their place on the embedded cluster, which is one machine.

    Those of `once` belong to it only where each cell is measured once.
    """

    description: str
    params: Mapping[str, Any]
    embedded: Mapping[str, Any] = field(default_factory=dict)
    once: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """What is asked: operations on a dataset, at stores, along axes. The first of the presets is what `storebench run` does by itself.

    Raises SpecError for a study that contradicts itself.
    """

    name: str
    title: str
    description: str = field(metadata=MAY_BE_EMPTY)
    stores: tuple[str, ...]
    operations: tuple[Operation, ...]
    metrics: tuple[Metric, ...]  # its own, without the common ones
    charts: tuple[Chart, ...] = ()
    axes: tuple[Axis, ...] = ()
    dataset: Dataset | None = None
    rows: int = 1  # what a run asks for by itself
    params: Mapping[str, Field] = field(
        default_factory=dict
    )  # what a study asks beside the stores' own options
    presets: Mapping[str, Preset] = field(default_factory=dict)
    method_version: int = 1  # what its figures mean (docs/method.md): any change of meaning raises it
    claims: tuple[Claim, ...] = ()  # of the original study, to be judged by what was measured

    def __post_init__(self) -> None:
        self.refuse(list(mistakes_of(self)) or list(problems(self, common={one.name for one in COMMON})))

    def refuse(self, found: Sequence[str]) -> None:
        """Raise SpecError with these mistakes in the study; do nothing if there is none."""
        if found:
            raise SpecError(f"The study {self.name!r}: {'; '.join(found)}")

    @property
    def steps(self) -> tuple[str, ...]:
        """The tasks of a cell: the operations, and the drop if any store keeps data."""
        names = tuple(one.name for one in self.operations)
        return (*names, DROP) if any(self.store(name).keeps_data for name in self.stores) else names

    def preset(self, name: str) -> Preset:
        """The preset of that name; raises SpecError for an unknown one."""
        if name not in self.presets:
            raise unknown("preset", name, self.presets)
        return self.presets[name]

    def store(self, name: str) -> type[Store]:
        """The class of the store that `name` means (`mongodb@v8` is a mongodb); raises SpecError for one that is not of this study."""
        base, _ = split(name)
        if base not in self.stores:
            raise unknown("store", base, self.stores)
        found = all_stores.load(self.name, base)
        for one in found.operations:
            if one not in (names := [operation.name for operation in self.operations]):
                raise SpecError(
                    f"The store {base!r} has the operation {one!r}, which the study {self.name!r}"
                    f" has not: {', '.join(names)}"
                )
        return found

    def operation(self, name: str) -> Operation:
        """The operation of that name; raises SpecError for an unknown one."""
        for one in self.operations:
            if one.name == name:
                return one
        raise unknown("operation", name, [one.name for one in self.operations])

    def operations_of(self, store: str) -> tuple[Operation, ...]:
        """Those that the store that `store` means has, in their order."""
        has = self.store(store).operations
        return tuple(one for one in self.operations if one.name in has)

    @property
    def clients(self) -> tuple[str, ...]:
        """All clients that at least one of the stores has."""
        return tuple(dict.fromkeys(client for store in self.stores for client in self.store(store).clients))

    def own_file(self, params: Mapping[str, Any]) -> File | None:
        """What a file of one's own becomes, if a run with these parameters has one as its dataset."""
        return self.dataset.own if self.dataset and params.get(FILE) else None

    def dataset_of(self, cell: Cell, params: Mapping[str, Any] | None = None) -> str | None:
        """The id of the dataset that the cell works on, in a run with these parameters; None for a study without one."""
        if own := self.own_file(params or {}):
            return own.id(cell.seed)
        return self.dataset.id(cell.rows, cell.seed, dict(cell.axes)) if self.dataset else None

    def asks(self) -> dict[str, Field]:
        """The parameters of a run that only some studies have: its own, and its stores' options."""
        options = {name: one for store in self.stores for name, one in self.store(store).options.items()}
        if both := sorted(options.keys() & self.params.keys()):
            raise SpecError(
                f"The study {self.name!r}: a run would have several parameters named {', '.join(both)}"
            )
        return {**self.params, **options}

    def details(self) -> dict[str, Any]:
        """What the results and the page have to know of it, as JSON: all but how it is run."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "method_version": self.method_version,
            "operations": [_listed(asdict(one)) for one in self.operations],
            "metrics": [
                {
                    "name": one.name,
                    "title": one.title,
                    "unit": one.unit,
                    "better": one.better,
                    "kind": one.kind,
                    "by_cover": one.by_cover,
                }
                for one in self.metrics
            ],
            "axes": [
                {
                    "name": one.name,
                    "title": one.title,
                    "description": one.description,
                    "numeric": one.numeric,
                    "pattern": one.pattern,
                    "hint": one.hint,
                    "default": list(one.default),
                    "choices": list(one.choices),
                    "grid": list(one.grid),
                    "where": _listed(one.where),
                    "whole": one.whole,
                    "of_copies": one.of_copies,
                    "workload": one.workload,
                }
                for one in self.axes
            ],
            "stores": [_store_described(name, self.store(name)) for name in self.stores],
            "charts": [_listed(asdict(one)) for one in self.charts],
            "params": [
                {"name": name, "title": one.title, "description": one.text, "rules": one.rules()}
                for name, one in self.asks().items()
            ],
            "dataset": self.dataset
            and {
                "name": self.dataset.name,
                "version": self.dataset.version,
                "text": self.dataset.text,
                "row_bytes": self.dataset.row_bytes,
                "max_rows": self.dataset.max_rows,
                "axes": list(self.dataset.axes),
                "own": _own_described(self.dataset.own),
            },
            "rows": self.rows,
            "presets": [{"name": name, **asdict(one)} for name, one in self.presets.items()],
            "claims": [one.details() for one in self.claims],
        }


def _listed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with lists in the place of tuples, as JSON gives it back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _own_described(own: File | None) -> dict[str, Any] | None:
    return {"name": own.name, "version": own.version, "max_rows": own.max_rows} if own else None


def _store_described(name: str, store: type[Store]) -> dict[str, Any]:
    return {
        "name": name,
        "clients": list(store.clients),
        "operations": list(store.operations),
        "keeps_data": store.keeps_data,
        "limit": store.limit,
        "server": store.connection if store.has_server() else None,
        "elsewhere": list(store.elsewhere),
        "filled_by": store.filled_by,
        "options": list(store.options),
    }
