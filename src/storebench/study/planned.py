"""Declare the parts of a study that the planning of runs reads. Both a Study and a StudyRecord have these parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from storebench.errors import unknown
from storebench.fields import Field
from storebench.study.cell import Cell
from storebench.study.dataset import FILE, DatasetRecord
from storebench.study.run_params import RunParams

if TYPE_CHECKING:
    from storebench.stores.base import TypicalTime
    from storebench.study.model import Axis, Operation


class PlannedStore(Protocol):
    """A store of a study: a class of storebench.stores, or a StoreRecord."""

    @property
    def name(self) -> str: ...
    @property
    def operations(self) -> tuple[str, ...]: ...
    @property
    def clients(self) -> tuple[str, ...]: ...
    @property
    def filled_by(self) -> str | None: ...
    @property
    def connection(self) -> str | None: ...
    @property
    def elsewhere(self) -> tuple[str, ...]: ...
    @property
    def options(self) -> Iterable[str]: ...
    @property
    def provisioned_servers_only(self) -> str: ...
    @property
    def provisions(self) -> bool: ...
    def has_server(self) -> bool: ...
    def server_of(self, name: str) -> tuple[str, str] | None: ...
    def connection_of(self, name: str) -> str | None: ...


class PlannedStudy(Protocol):
    """A study whose runs can be planned: a Study, or a StudyRecord."""

    @property
    def name(self) -> str: ...
    @property
    def method_version(self) -> int: ...
    @property
    def operations(self) -> tuple[Operation, ...]: ...
    @property
    def axes(self) -> tuple[Axis, ...]: ...
    @property
    def dataset(self) -> DatasetRecord | None: ...
    @property
    def rows(self) -> int: ...
    @property
    def store_names(self) -> tuple[str, ...]: ...
    @property
    def default_stores(self) -> tuple[str, ...]: ...
    @property
    def unnamed_stores(self) -> tuple[str, ...]: ...
    @property
    def study_params(self) -> Mapping[str, Field]: ...
    @property
    def clients(self) -> tuple[str, ...]: ...
    def store(self, name: str) -> PlannedStore: ...
    def params_and_options(self) -> dict[str, Field]: ...
    def operations_of(self, store: str) -> tuple[Operation, ...]: ...
    def operations_in(self, cell: Cell) -> tuple[Operation, ...]: ...
    def with_fillers(self, stores: Iterable[str]) -> tuple[str, ...]: ...
    def values_of(self, cell: Cell) -> dict[str, str]: ...
    def values_everywhere(self, cell: Cell) -> dict[str, str]: ...
    def at(self, cell: Cell, name: str, value: str) -> Cell: ...
    def dataset_of(self, cell: Cell, values: Mapping[str, Any] | None = None) -> str | None: ...
    def least_s(self, store: str, operation: str, values: Mapping[str, str]) -> float: ...
    def typical_of(self, store: str, operation: str, client: str) -> TypicalTime | None: ...
    def needs_agents(self, store: str, params: RunParams) -> str: ...
    def faults_of(self, store: str) -> tuple[str, ...] | None: ...


class Planning:
    """Methods that Study and StudyRecord share."""

    @property
    def clients(self: PlannedStudy) -> tuple[str, ...]:
        """Return the names of all clients that at least one store has."""
        return tuple(
            dict.fromkeys(client for store in self.store_names for client in self.store(store).clients)
        )

    @property
    def unnamed_stores(self: PlannedStudy) -> tuple[str, ...]:
        """Return the names of the stores that a run measures if it names no stores."""
        return self.default_stores or self.store_names

    def operation(self: PlannedStudy, name: str) -> Operation:
        """Return the operation `name`. Raises SpecError for an unknown name."""
        for operation in self.operations:
            if operation.name == name:
                return operation
        raise unknown("operation", name, [operation.name for operation in self.operations])

    def operations_of(self: PlannedStudy, store: str) -> tuple[Operation, ...]:
        """Return the operations that a store has, in the study's order."""
        names = self.store(store).operations
        return tuple(operation for operation in self.operations if operation.name in names)

    def operations_in(self: PlannedStudy, cell: Cell) -> tuple[Operation, ...]:
        """Return the operations of a cell at its store, in the study's order: an operation may be for some cells only (`Operation.where`)."""
        operations = self.operations_of(cell.store)
        if not any(operation.where for operation in operations):
            return operations
        values = self.values_everywhere(cell)
        return tuple(one for one in operations if one.exists_in(cell.store, cell.client, values))

    def with_fillers(self: PlannedStudy, stores: Iterable[str]) -> tuple[str, ...]:
        """Return these stores and the stores that fill them, each once: the stores whose pods a run of `stores` starts."""
        named = tuple(stores)
        fillers = [filler for name in named if (filler := self.store(name).filled_by)]
        return tuple(dict.fromkeys((*named, *fillers)))

    def values_of(self: PlannedStudy, cell: Cell) -> dict[str, str]:
        """Return a cell's values by axis, with the values that its key does not name (`Axis.implied`). Axes that do not apply are absent."""
        named, values = dict(cell.axes), {}
        for axis in self.axes:
            if axis.name in named:
                values[axis.name] = named.pop(axis.name)
            elif axis.implied and axis.means_something(cell.store, cell.client, values):
                values[axis.name] = axis.implied
        return {**values, **named}  # the study may no longer have an axis of an old cell

    def values_everywhere(self: PlannedStudy, cell: Cell) -> dict[str, str]:
        """Return a cell's values by axis. An axis that does not apply has its implied value, or is absent without an implied value."""
        return {axis.name: axis.implied for axis in self.axes if axis.implied} | self.values_of(cell)

    def at(self: PlannedStudy, cell: Cell, name: str, value: str) -> Cell:
        """Return the cell that differs from `cell` only in its value on the axis `name`."""
        values = {**self.values_of(cell), name: value}
        implied = {axis.name: axis.implied for axis in self.axes if axis.implied}
        return replace(cell, axes=tuple(pair for pair in values.items() if implied.get(pair[0]) != pair[1]))

    def dataset_of(self: PlannedStudy, cell: Cell, values: Mapping[str, Any] | None = None) -> str | None:
        """Return the id of a cell's dataset; None for a study without a dataset. `values`: the run's parameters, which may name a file."""
        if self.dataset is None:
            return None
        if self.dataset.custom_file and (values or {}).get(FILE):
            return self.dataset.custom_file.id(cell.seed)
        return self.dataset.id(cell.rows, cell.seed, self.values_of(cell))
