"""DuckDB with its own file format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storebench.errors import StoreRefused
from storebench.stores.column_scan import arrow, residence
from storebench.stores.column_scan.duckdb_engine import DuckdbEngine
from storebench.stores.column_scan.table import BY_NAME, TABLE

if TYPE_CHECKING:
    import numpy as np

    from storebench.attempt.clock import OperationClock
    from storebench.stores.column_scan.base import Columns


class Duckdb(DuckdbEngine):
    """DuckDB. A cold sum opens the database. A hot sum uses the open database, with the column's blocks in DuckDB's memory."""

    name = "duckdb"
    packages = ("numpy", "pyarrow", "duckdb")
    modules = (*DuckdbEngine.modules, "pyarrow", "duckdb")

    def connect(self) -> None:
        super().connect()
        self._path = self._folder / f"{TABLE}.duckdb"

    def write(self, columns: Columns, clock: OperationClock) -> None:
        import duckdb

        table = arrow.table(columns)
        with clock.operation():
            with duckdb.connect(self._path) as database:
                database.register("columns", table)
                database.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM columns")
                database.execute("CHECKPOINT")
            residence.sync(self._files())

    def scan(self) -> float:
        return float(self._ask(f"SELECT SUM({self.column}) FROM {TABLE}").fetchall()[0][0])

    def count(self) -> int:
        return int(self._ask(f"SELECT COUNT(*) FROM {TABLE}").fetchall()[0][0])

    def read_back(self, column: str) -> np.ndarray[Any, Any]:
        """Read the values instead of their sum."""
        table = self._opened().sql(f'SELECT "{column}" FROM {TABLE}').to_arrow_table()
        return arrow.values(table[column], BY_NAME[column])

    def scanned_files(self) -> Sequence[Path]:
        return [self._path]

    def needed_bytes(self) -> int:
        """Return the bytes of the blocks with values of the column: DuckDB reads whole blocks."""
        (block_bytes,) = self._ask("SELECT block_size FROM pragma_database_size()").fetchall()[0]
        (blocks,) = self._ask(
            f"SELECT COUNT(DISTINCT block_id) FROM pragma_storage_info('{TABLE}')"
            " WHERE column_name = ? AND segment_type <> 'VALIDITY' AND block_id >= 0",
            [self.column],
        ).fetchall()[0]  # read to the end: until then the connection takes no other query
        if not blocks:
            raise StoreRefused(f"{self._path} has no column {self.column}")
        self.close()
        return int(block_bytes) * int(blocks)

    def _ask(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._opened().execute(sql, list(values))

    def _opened(self) -> Any:
        import duckdb

        if self._database is None:
            self._files()  # check that files exist
            self._database = duckdb.connect(self._path, read_only=True)
        return self._database
