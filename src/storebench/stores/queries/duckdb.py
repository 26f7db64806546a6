"""DuckDB with its own file format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from storebench.stores.base import Durability
from storebench.stores.queries.duckdb_engine import DuckdbEngine
from storebench.stores.queries.questions import TEXT
from storebench.stores.queries.sql import STANDARD

if TYPE_CHECKING:
    from storebench.attempt.clock import OperationClock
    from storebench.stores.queries.incoming import Batch

TABLE = "records"
BATCH_ROWS = 100_000


class Duckdb(DuckdbEngine):
    """DuckDB. The rows are in the order of their ids. There is no index: DuckDB's documentation advises against indexes for scans."""

    name = "duckdb"
    statements: ClassVar[Mapping[str, str]] = {
        **STANDARD,
        "contains": f"SELECT COUNT(*), SUM(quantity) FROM {{table}} WHERE contains(comment, '{TEXT}')",
    }
    table = TABLE

    def connect(self) -> None:
        super().connect()
        self._path = self.folder / f"{TABLE}.duckdb"
        if not self.writes:
            self.open(self._path, read_only=True)
        elif self.folder.is_dir() and self._path.exists():
            self.open(self._path)

    def create(self) -> None:
        self.close()
        super().create()
        self.open(self._path)

    def load(self, clock: OperationClock) -> None:
        database = self.database
        for number, part in enumerate(clock.source(self.source.tables(BATCH_ROWS))):
            with clock.operation():
                database.register("part", part)
                into = f"INSERT INTO {TABLE}" if number else f"CREATE TABLE {TABLE} AS"
                database.execute(f"{into} SELECT * FROM part")
                database.unregister("part")
        with clock.operation():
            database.execute("CHECKPOINT")
            self.sync()

    def append(self, batch: Batch) -> None:
        self.database.register("part", batch.table())
        self.run(f"INSERT INTO {TABLE} SELECT * FROM part")

    def durability(self) -> Durability:
        return Durability("disk", "fsync of the write-ahead log at each commit")
