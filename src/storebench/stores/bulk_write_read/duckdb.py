"""The store DuckDB: a database file on the cell's volume."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from storebench.attempt.clock import OperationClock
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused
from storebench.stores.base import Durability, Server, TypicalTime
from storebench.stores.bulk_write_read import arrow
from storebench.stores.bulk_write_read.base import VERIFY_CHUNK_ROWS, columns
from storebench.stores.bulk_write_read.volume_table import FULL, VolumeTable

TABLE, PART = "data", "part"  # names in the database: of the table, and of the Arrow table of a write call
FETCH_ROWS = 10_000  # rows of a fetch of the reference client
ANSWER_ROWS = 122_880  # rows of a record batch of the tuned client: a row group of DuckDB
SETTINGS = ("threads", "memory_limit", "fsync_mode", "checkpoint_threshold")
SELECT = f"SELECT * FROM {TABLE}"


class DuckDB(VolumeTable):
    """DuckDB in the pod. Each write call is a transaction. The barrier is a checkpoint, after which the file needs no write-ahead log.

    The `reference` client makes a text table of each list of dicts, inserts it, and fetches rows as tuples. The `tuned` client writes the
    source's typed tables, the first by CREATE TABLE AS, lets the engine reorder rows, and streams Arrow.
    """

    name = "duckdb"
    clients = ("reference", "tuned")
    delivers = ("tuples", "Arrow")
    packages = ("duckdb", "pyarrow")
    modules = ("duckdb", "pyarrow", "storebench.dataset.typed")
    # Medians of a run with 20,000 rows
    typical = (TypicalTime("write", fixed_s=11, million_s=55), TypicalTime("read", fixed_s=4, million_s=22))

    _database: Any = None

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        names = [field.name.casefold() for field in schema]
        if same := next((name for name in names if names.count(name) > 1), None):
            return f"DuckDB takes columns whose names differ only in case, such as {same!r}, for one"
        return arrow.too_fine(schema, "the tuned client")

    def connect(self) -> None:
        self.check_written()

    def describe(self) -> Server:
        import duckdb

        with duckdb.connect() as session:
            rows = session.execute("SELECT name, value FROM duckdb_settings()").fetchall()
        settings = dict(rows)
        return Server("DuckDB", duckdb.__version__, {name: settings.get(name) for name in SETTINGS})

    def durability(self) -> Durability:
        return Durability("disk", "each commit syncs the write-ahead log")

    def write(self, batch: int | None, clock: OperationClock) -> int:
        with self._errors():
            self._database = self._open()
            return self._write_tuned(batch, clock) if self.client == "tuned" else self._write(batch, clock)

    def _write(self, batch: int | None, clock: OperationClock) -> int:
        import pyarrow as pa

        text_columns = ", ".join(f"{_quoted(name)} VARCHAR" for name in self.source.fields)
        self._database.execute(f"CREATE TABLE {TABLE} ({text_columns})")
        if batch is None:
            with clock.operation():
                table = pa.Table.from_pylist(list(clock.source(self.source.rows())))
                self._insert(table, f"INSERT INTO {TABLE}")
            return int(table.num_rows)
        rows = 0
        for part in clock.source(self.source.batches(batch)):
            with clock.operation():
                self._insert(pa.Table.from_pylist(part), f"INSERT INTO {TABLE}")
            rows += len(part)
        return rows

    def _write_tuned(self, batch: int | None, clock: OperationClock) -> int:
        self._database.execute("SET preserve_insertion_order = false")
        rows, statement = 0, f"CREATE TABLE {TABLE} AS"
        for part in clock.source(self.source.tables(batch)):
            with clock.operation():
                self._insert(part, statement)
            rows, statement = rows + part.num_rows, f"INSERT INTO {TABLE}"
        return rows

    def _insert(self, part: Any, statement: str) -> None:
        self._database.register(PART, part)
        self._database.execute(f"{statement} SELECT * FROM {PART}")
        self._database.unregister(PART)

    def barrier(self) -> None:
        """Write the log's content into the database file, and close the file: the next pod reads the table without the log."""
        with self._errors():
            self._database.execute("CHECKPOINT")
            self.close()
            self.sync()

    def read(self, clock: OperationClock) -> int:
        rows = 0
        with self._errors(), clock.operation():
            if self.client == "tuned":
                for batch in self._batches():
                    rows += batch.num_rows
            else:
                for _ in self._tuples():
                    rows += 1
        return rows

    def _tuples(self) -> Iterator[tuple[Any, ...]]:
        """Yield every row as the reference client reads it, for both the timed read and its second pass."""
        found = self._read_only().execute(SELECT)
        while part := found.fetchmany(FETCH_ROWS):
            yield from part

    def _batches(self) -> Iterator[Any]:
        """Yield the table's record batches as the tuned client reads them, for both the timed read and its second pass."""
        yield from self._read_only().sql(SELECT).to_arrow_reader(ANSWER_ROWS)

    def count(self) -> int:
        with self._errors():
            return int(self._read_only().execute(f"SELECT COUNT(*) FROM {TABLE}").fetchall()[0][0])

    def scan(self) -> Iterator[Mapping[str, Any]]:
        with self._errors():
            if self.operation == "read" and self.client == "reference":
                names, held = self.source.fields, []
                for row in self._tuples():
                    held.append(dict(zip(names, row, strict=True)))
                    if len(held) == VERIFY_CHUNK_ROWS:
                        yield columns(held, names)
                        held = []
                if held:
                    yield columns(held, names)
                return
            for batch in self._batches():
                yield from arrow.chunks(batch, self.source.schema)

    def verified_by(self) -> str:
        by_tuples = self.operation == "read" and self.client == "reference"
        return f"duckdb {'fetchmany' if by_tuples else 'to_arrow_reader'}()"

    def _open(self, *, read_only: bool = False) -> Any:
        import duckdb

        return duckdb.connect(self.folder / f"{TABLE}.duckdb", read_only=read_only)

    def _read_only(self) -> Any:
        if self._database is None:
            self._database = self._open(read_only=True)
        return self._database

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn DuckDB's errors into StoreRefused: even for a full disk they are no OSError."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            said = " ".join(str(error).split())
            full = os.strerror(errno.ENOSPC) in said
            raise StoreRefused(f"{FULL}: {said}" if full else f"DuckDB refused: {said}") from error


def _quoted(name: str) -> str:
    """Return an SQL identifier in quotes."""
    return '"' + name.replace('"', '""') + '"'
