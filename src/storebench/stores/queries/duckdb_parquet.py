"""DuckDB over a Parquet file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from storebench.stores.queries.base import ASK, LOAD
from storebench.stores.queries.duckdb import Duckdb
from storebench.stores.queries.duckdb_engine import DuckdbEngine

if TYPE_CHECKING:
    from storebench.attempt.clock import OperationClock
    from storebench.stores.queries.incoming import Batch

VIEW = "records"
ROW_GROUP_ROWS = 122_880  # the size that DuckDB writes, and a unit of work of one of its threads


class DuckdbParquet(DuckdbEngine):
    """DuckDB, which asks a Parquet file that pyarrow has written. A Parquet file cannot be changed, so there is no deletion."""

    name = "duckdb-parquet"
    operations = (LOAD, ASK)
    statements = Duckdb.statements
    table = VIEW

    def connect(self) -> None:
        super().connect()
        self._path = self.folder / "records.parquet"
        self.open(":memory:")
        if self.operation == ASK:
            self._define()

    def load(self, clock: OperationClock) -> None:
        import pyarrow.parquet as pq

        writer: Any = None
        for part in clock.source(self.source.tables(ROW_GROUP_ROWS)):
            with clock.operation():
                writer = writer or pq.ParquetWriter(self._path, part.schema)
                writer.write_table(part)
        with clock.operation():
            writer.close()
            self.sync()
        self._define()

    def _define(self) -> None:
        path = str(self._path).replace("'", "''")
        self.database.execute(f"CREATE VIEW {VIEW} AS SELECT * FROM read_parquet('{path}')")

    def append(self, batch: Batch) -> None:
        raise NotImplementedError("A Parquet file cannot be changed")
