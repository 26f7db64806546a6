"""The common part of both DuckDB stores: the server's name and version, the connection, and its errors."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

from storebench.errors import StoreRefused
from storebench.stores.base import Server
from storebench.stores.column_scan.base import FULL
from storebench.stores.column_scan.files import FileStore

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt


class DuckdbEngine(FileStore):
    """DuckDB in the pod itself."""

    _database: Any = None

    def describe(self) -> Server:
        import duckdb

        return Server("DuckDB", duckdb.__version__)

    def operate(self, attempt: Attempt) -> str:
        """Run the operation. Turns DuckDB's errors into StoreRefused: even for a full disk they are no OSError."""
        import duckdb

        try:
            return super().operate(attempt)
        except duckdb.Error as error:
            said = " ".join(str(error).split())
            full = os.strerror(errno.ENOSPC) in said
            raise StoreRefused(f"{FULL}: {said}" if full else f"DuckDB refused: {said}") from error

    def additions(self) -> int:
        """Return the number of rows: the threads share the rows, so any order of additions is possible."""
        return self.rows

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
