"""Studies, axes, cells, and the grid: the valid combinations of the axes' values.

Example:
    >>> study = Study("bulk_write_read", "…", stores=("mongodb",), axes=(BATCH_SIZE, EXECUTORS),
    ...               default_stores=("mongodb",), default_rows=1000)
    >>> grid = study.grid(stores=["mongodb"], clients=["reference"], rows=1000, seed=42,
    ...                   axes={"batch_sizes": ["10000", "all"], "executors": ["1", "2"]})
    >>> [cell.key for cell in grid.cells]
    ['bulk_write_read/mongodb/reference/batch=10000/rows=1000/seed=42',
     'bulk_write_read/mongodb/reference/batch=all/rows=1000/seed=42']
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from storebench.dataset.generate import MAX_ROWS
from storebench.errors import SpecError, unknown
from storebench.stores import load as load_store
from storebench.stores import split

MAX_SEED = 2**53 - 1  # the largest integer that every JSON reader keeps


@dataclass(frozen=True)
class Axis:
    """One parameter of a study: its values are texts that match `pattern`."""

    name: str
    key: str  # its name in a cell's key
    param: str  # its name among a run's parameters, which take several values
    title: str
    description: str
    pattern: str
    hint: str  # what `pattern` means, for people
    default: tuple[str, ...]
    choices: tuple[str, ...]  # what a form offers; any text that matches is valid
    grid: tuple[str, ...]  # what a backfill fills, in the order of coming: only ever added to, at the end

    def check(self, value: str) -> str:
        """Return `value` if it is one of this axis; raises SpecError if not."""
        if not re.fullmatch(self.pattern, value):
            raise SpecError(f"{self.title}: {value!r} is not {self.hint}")
        return value


BATCH_SIZE = Axis(
    name="batch_size",
    key="batch",
    param="batch_sizes",
    title="Batch sizes",
    description="Rows in one write call; **all** hands the whole dataset to one call.",
    pattern=r"[1-9][0-9]{0,9}|all",
    hint="a number of rows from 1, or 'all'",
    default=("10000", "100000", "all"),
    choices=("100", "1000", "10000", "100000", "all"),
    grid=("10000", "100000", "all"),
)
EXECUTORS = Axis(
    name="executors",
    key="executors",
    param="executors",
    title="Executors",
    description="Spark executor pods. Stores that have none ignore it.",
    pattern=r"[1-9][0-9]{0,2}",
    hint="a number of executors from 1 to 999",
    default=("1", "2"),
    choices=("1", "2", "4", "8"),
    grid=("1", "2", "4"),
)


@dataclass(frozen=True)
class Cell:
    """One combination of a grid. `key` is readable, stable, and names the cell everywhere."""

    study: str
    store: str  # with the name of its server where there are several: `mongodb@v8`
    client: str
    axes: tuple[
        tuple[str, str], ...
    ]  # (axis key, value), in the study's order, only where it means something
    rows: int
    seed: int

    @property
    def key(self) -> str:
        axes = [f"{key}={value}" for key, value in self.axes]
        return "/".join(
            [self.study, self.store, self.client, *axes, f"rows={self.rows}", f"seed={self.seed}"]
        )

    @property
    def label(self) -> str:
        """The short name, for a task in the user interface: what differs between the cells of one run."""
        return " ".join([self.store, self.client, *(f"{key}={value}" for key, value in self.axes)])

    @classmethod
    def from_key(cls, key: str) -> Cell:
        """The cell that `key` names; raises SpecError for a text that is no cell's key."""
        study, store, client, *pairs = key.split("/") if key.count("/") >= 4 else ("",) * 3
        values = [tuple(pair.split("=", 1)) for pair in pairs]
        if [pair[0] for pair in values[-2:]] != ["rows", "seed"] or not all(
            len(pair) == 2 for pair in values
        ):
            raise SpecError(f"{key!r} is not a cell's key")
        rows, seed = int(values[-2][1]), int(values[-1][1])
        return cls(study, store, client, tuple((key, value) for key, value in values[:-2]), rows, seed)

    def value(self, key: str) -> str | None:
        """The value on the axis with `key`, or None where that axis means nothing for this cell."""
        return dict(self.axes).get(key)

    def target(self, run: str, repeat: int) -> str:
        """The name under which the store keeps this cell's data in one repeat of one run: unique, 63 characters at most."""
        digest = hashlib.sha256(f"{run}\n{self.key}\n{repeat}".encode()).hexdigest()[:16]
        return f"storebench_{re.sub('[-@]', '_', self.store)[:30]}_{digest}"


@dataclass(frozen=True)
class Grid:
    """The cells of a run, and how many combinations were left out because they repeat another cell."""

    cells: tuple[Cell, ...]
    dropped: int
    dropped_because: str = ""


@dataclass(frozen=True)
class Preset:
    """Parameters of a run that have a name together; those of `embedded` take their place on the embedded cluster, which is one machine."""

    description: str
    params: Mapping[str, Any]
    embedded: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """What is asked: a list of axes, and the stores that take part. The first of the presets is what `storebench run` does by itself."""

    name: str
    description: str
    stores: tuple[str, ...]
    axes: tuple[Axis, ...]
    default_stores: tuple[str, ...]
    default_rows: int
    presets: Mapping[str, Preset] = field(default_factory=dict)

    def preset(self, name: str) -> Preset:
        """The preset of that name; raises SpecError for an unknown one."""
        if name not in self.presets:
            raise unknown("preset", name, self.presets)
        return self.presets[name]

    @property
    def clients(self) -> tuple[str, ...]:
        """All clients that at least one of the stores has."""
        return tuple(dict.fromkeys(client for store in self.stores for client in load_store(store).clients))

    def grid(
        self,
        *,
        stores: Sequence[str],
        clients: Sequence[str],
        axes: Mapping[str, Sequence[str]],
        rows: int,
        seed: int,
        full: bool = True,
    ) -> Grid:
        """The cells for these values, in the order given: stores, then clients, then the axes.

        `axes` maps an axis' parameter to the values asked for; an axis left out takes its defaults. Without `full`, at each
        store one thing at a time differs from the first of its values: the client, or the place on one axis.
        Raises SpecError for any value that is not valid, before anything else happens.
        """
        self._check(stores, clients, rows, seed)
        values = [self._values(axis, axes.get(axis.param, axis.default)) for axis in self.axes]
        first = {axis.key: column[0] for axis, column in zip(self.axes, values, strict=True)}
        cells: dict[Cell, None] = {}
        combinations, reasons = 0, set()
        for store, client, *combination in itertools.product(stores, clients, *values):
            combinations += 1
            info = load_store(store)
            if client not in info.clients:
                reasons.add(f"{store} has no client {client!r}")
                continue
            meant = tuple(
                (axis.key, value)
                for axis, value in zip(self.axes, combination, strict=True)
                if axis.name in info.axes
            )
            differing = sum(value != first[key] for key, value in meant)
            differing += client != next(name for name in clients if name in info.clients)
            if differing > 1 and not full:
                reasons.add("one thing is varied at a time")
                continue
            cell = Cell(self.name, store, client, meant, rows, seed)
            if cell in cells:
                ignored = [axis.name for axis in self.axes if axis.name not in info.axes]
                reasons.add(f"{store} has no {', '.join(ignored)}")
            cells[cell] = None
        if not cells:
            raise SpecError(f"No cell is left to run: {'; '.join(sorted(reasons))}")
        return Grid(tuple(cells), combinations - len(cells), "; ".join(sorted(reasons)))

    def _check(self, stores_: Sequence[str], clients: Sequence[str], rows: int, seed: int) -> None:
        for what, asked, known in (("store", stores_, self.stores), ("client", clients, self.clients)):
            if not asked:
                raise SpecError(f"Choose at least one {what}: {', '.join(known)}")
            for name in asked:
                if name not in known and (what == "client" or split(name)[0] not in known):
                    raise unknown(what, name, known)
        check_dataset(rows, seed)

    @staticmethod
    def _values(axis: Axis, values: Sequence[str]) -> list[str]:
        if not values:
            raise SpecError(f"{axis.title}: give at least one value")
        return list(dict.fromkeys(axis.check(str(value)) for value in values))


def check_dataset(rows: Any, seed: Any) -> None:
    """Raises SpecError for rows, or a seed, of which there is no dataset."""
    check_integer("rows", rows, 1, MAX_ROWS)
    check_integer("seed", seed, 0, MAX_SEED)


def operations_of(cells: Iterable[Cell]) -> int:
    """How many operations these cells have together, each measured once."""
    return sum(len(load_store(cell.store).operations) for cell in cells)


def check_integer(name: str, value: Any, minimum: int, maximum: int) -> int:
    """Return `value` if it is an integer in the range; raises SpecError if not."""
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise SpecError(f"{name} must be a whole number from {minimum:,} to {maximum:,}, not {value!r}")
    return value
