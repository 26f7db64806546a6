"""Define the record of a study: the study as JSON, for the results database, for bundles, and for a page without the study's file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from storebench import stores as all_stores
from storebench.errors import SpecError, unknown
from storebench.fields import Field as RunField
from storebench.fields import field_of
from storebench.stores.base import Store, TypicalTime, connection_named, is_server, server_named, split
from storebench.study.claim import Claim
from storebench.study.dataset import CustomFileRecord, Dataset, DatasetRecord
from storebench.study.model import Axis, Better, Chart, Kind, Merge, Metric, Operation, Preset, Study, Table
from storebench.study.planned import Planning
from storebench.study.run_params import RunParams, study_values

NEITHER, SCALAR = "neither", "scalar"
BETTER, KINDS, MERGES = get_args(Better), get_args(Kind), (*get_args(Merge), None)
# Defaults of fields that records of earlier versions lack. No run can be planned from such a record: the empty pattern matches no value.
DATASET_OF_EARLIER = {"text": "", "row_bytes": 0, "max_rows": 0}
EARLIER_NAMES = {"limit": "floor", "own_servers_only": "provisioned_servers_only"}  # of a store's fields
AXIS_OF_EARLIER = {"description": "", "pattern": "", "hint": "", "default": (), "choices": (), "grid": ()}


class Record(BaseModel):
    """Base class of a study's record and its parts. Unknown fields are ignored: another version may have recorded them."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


class StoreRecord(Record):
    """A store of a study."""

    model_config = ConfigDict(serialize_by_alias=True)

    name: str
    clients: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    keeps_data: bool = True
    floor: bool = Field(
        default=False,
        description="The store is a floor: no other store can be faster with the same client",
    )
    connection: str | None = Field(
        alias="server",  # the name in all records, which local/stack/idle.py reads in SQL
        default=None,
        description="The server's connection in Airflow; None if the store has no server",
    )
    product: str | None = Field(
        default=None,
        description="The product that the store is named after: labels name another product that answered",
    )
    elsewhere: tuple[str, ...] = Field(
        default=(), description="Connections of other servers that can hold the store's data"
    )
    filled_by: str | None = Field(
        default=None, description="The store that fills this store, if another store does"
    )
    provisioned_servers_only: str = Field(
        default="", description="Why the store is only measured at servers that a run provisions"
    )
    provisions: bool = Field(default=True, description="A run can provision the store's servers")
    options: tuple[str, ...] = Field(
        default=(), description="Names of the parameters that the store's pods get"
    )

    @classmethod
    def of(cls, store: type[Store], name: str) -> StoreRecord:
        """Create the record of a store. `name`: the store's name in the study."""
        return cls(
            name=name,
            clients=store.clients,
            operations=store.operations,
            keeps_data=store.keeps_data,
            floor=store.floor,
            server=store.connection if store.has_server() else None,
            product=store.product,
            elsewhere=store.elsewhere,
            filled_by=store.filled_by,
            provisioned_servers_only=store.provisioned_servers_only,
            provisions=store.provisions,
            options=tuple(store.options),
        )

    def has_server(self) -> bool:
        """Return whether the store has its own server, other than the dataset's S3."""
        return is_server(self.connection)

    def server_of(self, name: str) -> tuple[str, str] | None:
        """Return the names of the connection and of the server in a name of this store: ("mongodb", "v8") for `mongodb@v8`.

        The server's name is "" if the name has none. Returns None if the store has no server.
        """
        return server_named(self.connection, self.elsewhere, name)

    def connection_of(self, name: str) -> str | None:
        """Return the connection's name for a name of this store: `mongodb_v8` for `mongodb@v8`. Returns None without a server."""
        return connection_named(self.connection, self.elsewhere, name)


class ParamRecord(Record):
    """A parameter of the study's runs, beyond the parameters that all studies have."""

    name: str
    title: str
    description: str
    rules: dict[str, Any] = Field(default={}, description="The kind of the parameter and its valid values")

    def field(self) -> RunField:
        """Return the parameter as a field of the form. Raises SpecError for rules that this version does not know."""
        try:
            return field_of(self.title, self.description, self.rules)
        except (KeyError, TypeError) as error:
            raise SpecError(
                f"The parameter {self.name!r} was recorded by another version of Storebench: {error}"
            ) from None


@dataclass(frozen=True)
class PresetRecord(Preset):
    """A preset with its name."""

    _: KW_ONLY
    name: str


class StudyRecord(Planning, Record):
    """A study as recorded at the start of its last run."""

    name: str
    title: str = ""
    description: str = ""
    method_version: int = 1
    operations: tuple[Operation, ...] = ()
    metrics: tuple[Metric, ...] = ()
    axes: tuple[Axis, ...] = ()
    stores: tuple[StoreRecord, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    params: tuple[ParamRecord, ...] = Field(
        default=(), description="The parameters of the study's runs, including the options of its stores"
    )
    dataset: DatasetRecord | None = None
    rows: int = Field(default=1, description="The default number of rows of a run")
    presets: tuple[PresetRecord, ...] = ()
    claims: tuple[Claim, ...] = ()
    default_stores: tuple[str, ...] = Field(
        default=(), description="The stores of a run that names no stores; empty: all stores"
    )

    @classmethod
    def of(cls, study: Study) -> StudyRecord:
        """Create the record of a study."""
        return cls(
            name=study.name,
            title=study.title,
            description=study.description,
            method_version=study.method_version,
            operations=study.operations,
            metrics=study.metrics,
            axes=study.axes,
            stores=tuple(StoreRecord.of(study.store(name), name) for name in study.stores),
            charts=study.charts,
            tables=study.tables,
            params=tuple(
                ParamRecord(name=name, title=field.title, description=field.text, rules=field.rules())
                for name, field in study.params_and_options().items()
            ),
            dataset=study.dataset and _dataset_record(study.dataset),
            rows=study.rows,
            presets=tuple(PresetRecord(**vars(preset), name=name) for name, preset in study.presets.items()),
            claims=study.claims,
            default_stores=study.default_stores,
        )

    @classmethod
    def read(cls, recorded: Any, name: str | None = None) -> StudyRecord:
        """Read a record from its JSON. `name`: replaces the name in the JSON. Raises SpecError for a record that this version cannot read."""
        if name is not None and isinstance(recorded, Mapping):
            recorded = {**recorded, "name": name}
        try:
            return cls.model_validate(recorded)
        except ValidationError as error:
            first = error.errors()[0]
            name = recorded.get("name") if isinstance(recorded, Mapping) else None
            study = f"the study {name!r}" if name else "a study"
            raise SpecError(
                f"The record of {study} cannot be read: {'.'.join(map(str, first['loc']))}: {first['msg']}."
                " Another version of Storebench may have written the record"
            ) from None

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON, for `read`."""
        return self.model_dump(mode="json")

    @field_validator("metrics", mode="before")
    @classmethod
    def _known_values(cls, metrics: Any) -> Any:
        """Replace values of `better`, `kind` and `merge` that this version does not know. No store is ranked by a metric with NEITHER."""
        known: dict[str, tuple[tuple[Any, ...], Any]] = {
            "better": (BETTER, NEITHER),
            "kind": (KINDS, SCALAR),
            "merge": (MERGES, None),
        }
        return _each_of(
            metrics,
            lambda metric: {
                name: otherwise
                for name, (values, otherwise) in known.items()
                if name in metric and metric[name] not in values
            },
        )

    @field_validator("axes", mode="before")
    @classmethod
    def _complete_axes(cls, axes: Any) -> Any:
        """Add the fields that axes of an earlier version lack."""
        return _each_of(axes, lambda axis: {**AXIS_OF_EARLIER, **axis})

    @field_validator("dataset", mode="before")
    @classmethod
    def _complete_dataset(cls, dataset: Any) -> Any:
        """Add the fields that a dataset of an earlier version lacks, and rename `own`."""
        if not isinstance(dataset, Mapping):
            return dataset
        custom_file = {"custom_file": dataset["own"]} if "own" in dataset else {}
        return {
            **DATASET_OF_EARLIER,
            **custom_file,
            **{name: dataset[name] for name in dataset if name != "own"},
        }

    @field_validator("stores", mode="before")
    @classmethod
    def _complete_stores(cls, stores: Any) -> Any:
        """Name the fields of an earlier version's stores as this version does, and add `floor`."""

        def changes_of(store: Mapping[str, Any]) -> dict[str, Any]:
            changes = {EARLIER_NAMES[name]: store[name] for name in EARLIER_NAMES if name in store}
            return {"floor": not store.get("keeps_data", True), **changes, **store}

        return _each_of(stores, changes_of)

    @property
    def store_names(self) -> tuple[str, ...]:
        """Return the names of the stores, in the study's order."""
        return tuple(store.name for store in self.stores)

    def store(self, name: str) -> StoreRecord:
        """Return the record of a store by its name (`mongodb@v8` is a mongodb). Raises SpecError for a store of another study."""
        base, _ = split(name)
        for store in self.stores:
            if store.name == base:
                return store
        raise unknown("store", base, self.store_names)

    def label_of(self, store: str, servers: Iterable[str | None]) -> str:
        """Return the label of a store's name: `FerretDB (store mongodb)` if FerretDB answered for MongoDB, else the name.

        `servers`: the names of the servers that answered; None where an attempt failed before it connected.
        """
        base, _ = split(store)
        product = next((known.product for known in self.stores if known.name == base), None)
        others = [server for server in dict.fromkeys(servers) if server and server != product]
        return f"{', '.join(others)} (store {store})" if product and others else store

    def params_and_options(self) -> dict[str, RunField]:
        """Return the parameters of this study's runs that other studies' runs lack: the study's parameters, and the options of its stores.

        Raises SpecError for a parameter that this version does not know.
        """
        return {param.name: param.field() for param in self.params}

    @property
    def study_params(self) -> dict[str, RunField]:
        """Return the study's parameters without the options of its stores."""
        options = {name for store in self.stores for name in store.options}
        return {param.name: param.field() for param in self.params if param.name not in options}

    def least_s(self, store: str, operation: str, values: Mapping[str, str]) -> float:
        """Return the minimum duration of a store's operation, in seconds. `values`: of the study's parameters and of the cell's axes.

        Returns 0 if this process cannot load the store's module, or if the record lacks a parameter that the module reads.
        """
        known = self._class_of(store)
        try:
            return known.least_s(operation, values) if known else 0.0
        except KeyError:
            return 0.0

    def typical_of(self, store: str, operation: str, client: str) -> TypicalTime | None:
        """Return the typical time of an operation of a store's client; None if the store declares none, or cannot be loaded."""
        known = self._class_of(store)
        return known.typical_of(operation, client) if known else None

    def needs_agents(self, store: str, params: RunParams) -> str:
        """Return why a store's attempts need the agents of provisioned servers, with these parameters.

        The text is empty if the attempts need no agents, or if this process cannot load the store's module.
        """
        known = self._class_of(store)
        return known.needs_agents(study_values(params)) if known else ""

    def faults_of(self, store: str) -> tuple[str, ...] | None:
        """Return the faults of a store's servers (`Store.faults`); None if this process cannot load the store's module."""
        known = self._class_of(store)
        return known.faults if known else None

    def _class_of(self, store: str) -> type[Store] | None:
        """Return the class of a store; None if this process cannot load the store's module."""
        try:
            return all_stores.load(self.name, self.store(store).name)
        except SpecError:
            return None


def _each_of(values: Any, changes_of: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Any:
    """Add to each JSON object of a list the fields that `changes_of` returns. Return any other value unchanged: pydantic refuses it."""
    if not isinstance(values, list | tuple):
        return values
    return [{**value, **changes_of(value)} if isinstance(value, Mapping) else value for value in values]


def _dataset_record(dataset: Dataset) -> DatasetRecord:
    """Create the record of a dataset. The record excludes the pods that make the dataset."""
    custom_file = dataset.custom_file and CustomFileRecord(
        dataset.custom_file.name, dataset.custom_file.version, dataset.custom_file.max_rows
    )
    return DatasetRecord(
        dataset.name,
        dataset.version,
        dataset.text,
        dataset.row_bytes,
        dataset.max_rows,
        axes=dataset.axes,
        custom_file=custom_file,
        divides=dataset.divides,
    )
