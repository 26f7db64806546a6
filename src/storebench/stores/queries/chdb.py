"""chDB, the engine of ClickHouse in the pod itself."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from storebench.dataset.schema import FIELDS, Field
from storebench.errors import StoreRefused
from storebench.stores.base import Durability, Pod, Server
from storebench.stores.queries.files import FOLDER, FileStore, refusal
from storebench.stores.queries.sql import STANDARD

if TYPE_CHECKING:
    from storebench.attempt.clock import OperationClock
    from storebench.stores.queries.incoming import Batch

TABLE = "records"
BATCH_ROWS = 100_000
_TYPES = {
    "integer": "Int64",
    "float": "Float64",
    "boolean": "Bool",
    "date": "Date32",  # the type Date begins in 1970
    "timestamp": "DateTime('UTC')",
    "string": "String",
}
# Without these settings, an acknowledged part of a table may still be in the page cache only.
DURABLE = "fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1"
ANSWER = "SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_decimals = 0, use_query_cache = 0"


class Chdb(FileStore):
    """chDB with a MergeTree in the order of the ids. A deletion marks rows (a lightweight DELETE), and waits for the marks."""

    name = "chdb"
    pod = Pod("chdb", volume=FOLDER)
    packages = ("chdb", "pyarrow", "numpy")
    modules = (*FileStore.modules, "pyarrow", "chdb.session")
    statements: ClassVar[Mapping[str, str]] = STANDARD
    table = TABLE

    _session: Any = None

    def connect(self) -> None:
        super().connect()
        if self.folder.is_dir():
            self._open()

    def describe(self) -> Server:
        import chdb

        return Server("ClickHouse (chDB)", str(chdb.engine_version))

    def client_cores(self) -> int:
        return os.cpu_count() or 1  # ClickHouse has a thread for each core

    def create(self) -> None:
        self.close()
        super().create()
        self._open()
        columns = ", ".join(f"`{field.name}` {_type(field)}" for field in FIELDS)
        self._run(f"CREATE TABLE {TABLE} ({columns}) ENGINE = MergeTree ORDER BY id SETTINGS {DURABLE}")

    def load(self, clock: OperationClock) -> None:
        for part in clock.source(self.source.tables(BATCH_ROWS)):  # noqa: B007 - chDB finds the variable by its name
            with clock.operation():
                self._run(f"INSERT INTO {TABLE} SELECT * FROM Python(part)")

    def fetch(self, statement: str) -> Sequence[Sequence[Any]]:
        lines = self._run(f"{statement} {ANSWER}", "JSONCompactEachRow").splitlines()
        return [json.loads(line, parse_float=Decimal) for line in lines]

    def run(self, statement: str) -> None:
        self._run(statement)

    def append(self, batch: Batch) -> None:
        part = batch.table()  # noqa: F841 - chDB finds the variable by its name
        self._run(f"INSERT INTO {TABLE} SELECT * FROM Python(part)")

    def another(self) -> Chdb:
        """Return a store with its own session: chDB's documentation recommends a session for each thread."""
        other = copy.copy(self)
        other._open()
        return other

    def durability(self) -> Durability:
        return Durability("disk", DURABLE)

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _open(self) -> None:
        from chdb.session import Session

        self._session = Session(str(self.folder))

    def _run(self, statement: str, form: str = "CSV") -> str:
        """Run a statement, and return its output. Raises StoreRefused."""
        if self._session is None:
            raise StoreRefused(f"What was written is not there: {self.folder}. Was the volume lost?")
        try:
            return str(self._session.query(statement, form).data())
        except RuntimeError as error:
            raise StoreRefused(refusal("chDB", error)) from error


def _type(field: Field) -> str:
    """Return the column type of a field."""
    kind = (
        f"Decimal({field.precision or 10}, {field.scale})" if field.type == "decimal" else _TYPES[field.type]
    )
    return f"Nullable({kind})" if field.nullable else kind
