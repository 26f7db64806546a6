"""Parquet files written and read by pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from storebench.stores.base import Server
from storebench.stores.column_scan import arrow, residence
from storebench.stores.column_scan.parquet import ParquetStore
from storebench.stores.column_scan.table import BY_NAME

if TYPE_CHECKING:
    import numpy as np

    from storebench.attempt.clock import OperationClock
    from storebench.stores.column_scan.base import Columns


class PyarrowParquet(ParquetStore):
    """Parquet by pyarrow, which reads the column with all threads and sums it. A hot sum reads the column again from the page cache."""

    name = "pyarrow-parquet"

    def describe(self) -> Server:
        import pyarrow

        return Server("Arrow C++", pyarrow.cpp_version)

    def write(self, columns: Columns, clock: OperationClock) -> None:
        import pyarrow.parquet as pq

        table = arrow.table(columns)
        with clock.operation():
            pq.write_table(table, self._path)
            residence.sync(self._files())

    def scan(self) -> float:
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        return float(pc.sum(pq.read_table(self._path, columns=[self.column])[self.column]).as_py())

    def additions(self) -> int:
        """Return the number of rows: any order of additions is possible."""
        return self.rows

    def read_back(self, column: str) -> np.ndarray[Any, Any]:
        """Read the column with DuckDB, independently of pyarrow."""
        import duckdb

        with duckdb.connect() as database:
            table = database.sql(f"SELECT \"{column}\" FROM read_parquet('{self._path}')").to_arrow_table()
            return arrow.values(table[column], BY_NAME[column])
