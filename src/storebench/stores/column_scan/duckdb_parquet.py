"""Parquet files written and read by DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from storebench.stores.column_scan import arrow, residence
from storebench.stores.column_scan.duckdb_engine import DuckdbEngine
from storebench.stores.column_scan.parquet import ParquetStore
from storebench.stores.column_scan.table import BY_NAME

if TYPE_CHECKING:
    import numpy as np

    from storebench.attempt.clock import OperationClock
    from storebench.stores.column_scan.base import Columns


class DuckdbParquet(DuckdbEngine, ParquetStore):
    """Parquet by DuckDB, which writes and queries the file. A hot sum uses the same connection."""

    name = "duckdb-parquet"

    def write(self, columns: Columns, clock: OperationClock) -> None:
        import duckdb

        table = arrow.table(columns)
        with clock.operation():
            with duckdb.connect() as database:
                database.register("columns", table)
                database.execute(f"COPY columns TO '{self._path}' (FORMAT parquet)")
            residence.sync(self._files())

    def scan(self) -> float:
        import duckdb

        self._database = self._database or duckdb.connect()
        answer = self._database.execute(f"SELECT SUM({self.column}) FROM read_parquet(?)", [str(self._path)])
        return float(answer.fetchall()[0][0])

    def read_back(self, column: str) -> np.ndarray[Any, Any]:
        """Read the column with pyarrow, independently of DuckDB."""
        import pyarrow.parquet as pq

        return arrow.values(pq.read_table(self._path, columns=[column])[column], BY_NAME[column])
