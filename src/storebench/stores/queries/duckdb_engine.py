"""The common part of both DuckDB stores: the connection, the version, and the errors."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from storebench.errors import StoreRefused
from storebench.stores.base import Server
from storebench.stores.queries.files import FileStore, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from storebench.attempt.run import Attempt


class DuckdbEngine(FileStore):
    """DuckDB in the pod itself."""

    packages = ("duckdb", "pyarrow", "numpy")
    modules = (*FileStore.modules, "pyarrow.parquet", "duckdb")

    _database: Any = None

    @property
    def database(self) -> Any:
        """Return the open connection. Raises StoreRefused if nothing was loaded."""
        if self._database is None:
            raise StoreRefused(f"What was written is not there: {self.folder}. Was the volume lost?")
        return self._database

    def open(self, path: Path | str, *, read_only: bool = False) -> None:
        """Open a database. Raises StoreRefused if there is no file to read."""
        import duckdb

        try:
            self._database = duckdb.connect(path, read_only=read_only)
        except duckdb.Error as error:
            raise StoreRefused(reason(error)) from error

    def describe(self) -> Server:
        import duckdb

        return Server("DuckDB", duckdb.__version__)

    def client_cores(self) -> int:
        return os.cpu_count() or 1  # DuckDB has a thread for each core

    def operate(self, attempt: Attempt) -> str:
        """Run the operation. Turns DuckDB's errors into StoreRefused."""
        import duckdb

        try:
            return super().operate(attempt)
        except duckdb.Error as error:
            raise StoreRefused(reason(error)) from error

    def fetch(self, statement: str) -> Sequence[Sequence[Any]]:
        import duckdb

        try:
            rows: Sequence[Sequence[Any]] = self.database.execute(statement).fetchall()
        except duckdb.Error as error:
            raise StoreRefused(reason(error)) from error
        return rows

    def run(self, statement: str) -> None:
        import duckdb

        try:
            self.database.execute(statement)
        except duckdb.Error as error:
            raise StoreRefused(reason(error)) from error

    def another(self) -> Self:
        """Return a store with its own cursor: DuckDB's documentation recommends a cursor for each thread. The cursors share a database."""
        other = copy.copy(self)
        other._database = self.database.cursor()
        return other

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def reason(error: Exception) -> str:
    """Return DuckDB's error in one line."""
    return refusal("DuckDB", error)
