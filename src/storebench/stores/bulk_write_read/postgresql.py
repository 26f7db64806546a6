"""The store PostgreSQL: a table for each target in the connection's database."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from storebench.attempt.clock import OperationClock
from storebench.dataset.schema import Field
from storebench.errors import StorebenchError
from storebench.stores.base import Durability, Server, TypicalTime
from storebench.stores.bulk_write_read import arrow
from storebench.stores.bulk_write_read.base import READ, VERIFY_CHUNK_ROWS, WRITE, TableStore, columns
from storebench.stores.bulk_write_read.maintenance import FILES, MAINTAIN
from storebench.stores.counters import postgresql as postgresql_counters
from storebench.stores.postgresql_server import connected, conninfo, durability_of, errors, identify, promise

if TYPE_CHECKING:
    from psycopg.sql import Composed, Identifier

MAX_COLUMNS, MAX_NAME_BYTES, DIGITS = 1_600, 63, 10
SYSTEM_COLUMNS = {"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}
TYPES = {
    "integer": "bigint",
    "float": "double precision",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "string": "text",
}


class PostgreSQL(TableStore):
    """PostgreSQL with a table per target. Each write call is a COPY in a transaction of its own, so there is no barrier.

    The `reference` client writes text columns with psycopg's `write_row`, and reads them with a server-side cursor. The `tuned` client
    writes the source's typed Arrow tables and reads Arrow, both by COPY in its binary format (ADBC).
    """

    name = "postgresql"
    operations = (WRITE, MAINTAIN, READ)
    lacks = FILES
    clients = ("reference", "tuned")
    delivers = ("tuples", "Arrow")
    # on SIGTERM the server waits for the client of the write to leave, so a restart is no fault
    faults = ("kill", "pause", "compact", "backup")
    connection = "postgresql"
    counters = postgresql_counters.COUNTERS
    packages = ("psycopg", "adbc-driver-postgresql", "pyarrow")
    modules = ("psycopg", "adbc_driver_postgresql.dbapi", "pyarrow", "storebench.dataset.typed")
    # Medians of a run with 20,000 rows
    typical = (
        TypicalTime("write", fixed_s=7, million_s=71),
        TypicalTime(MAINTAIN, fixed_s=5, million_s=70),
        TypicalTime("read", fixed_s=4, million_s=35),
    )

    _arrow: Any = None

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        if len(schema) > MAX_COLUMNS:
            return f"PostgreSQL has at most {MAX_COLUMNS:,} columns in a table, not {len(schema):,}"
        for name in (field.name for field in schema):
            if name in SYSTEM_COLUMNS:
                return f"each table of PostgreSQL has a column {name!r} of its own: rename that column"
            if len(name.encode()) > MAX_NAME_BYTES:
                return f"the name of the column {name!r} is longer than PostgreSQL's {MAX_NAME_BYTES} bytes: rename that column"
        return arrow.too_fine(schema, "PostgreSQL")

    def connect(self) -> None:
        assert self.server is not None
        self._session = connected(self.server)
        if self.operation == "drop":
            return
        with errors(self.server):
            self._found = identify(self._session)
            if self.client == "tuned":
                from adbc_driver_postgresql import dbapi

                self._arrow = dbapi.connect(conninfo(self.server))

    def describe(self) -> Server:
        return self._found

    def durability(self) -> Durability:
        return durability_of(self._found.settings)

    def promise(self, fault: str) -> str | None:
        return promise(fault, self.durability())

    def server_processes(self) -> Mapping[str, float]:
        with suppress(StorebenchError), errors(self.server):
            row = self._session.execute("SELECT extract(epoch FROM pg_postmaster_start_time())").fetchone()
            return {"postmaster": float(row[0])} if row else {}
        return {}

    def read_counters(self) -> Mapping[str, float | str]:
        with errors(self.server):
            if self._arrow and postgresql_counters.flushes(self._session):  # the tuned client's session
                with self._arrow.cursor() as cursor:
                    cursor.execute(postgresql_counters.FLUSH)
                self._arrow.commit()
            return postgresql_counters.read(self._session, self.target)

    def prepare(self) -> None:
        from psycopg import sql

        self.drop()
        kinds = [_kind(field) if self.client == "tuned" else "text" for field in self.source.schema]
        described = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind))
            for name, kind in zip(self.source.fields, kinds, strict=True)
        )
        with errors(self.server):
            self._session.execute(sql.SQL("CREATE TABLE {} ({})").format(self._table, described))

    def write(self, batch: int | None, clock: OperationClock) -> int:
        with errors(self.server):
            return self._write_tuned(batch, clock) if self.client == "tuned" else self._write(batch, clock)

    def _write(self, batch: int | None, clock: OperationClock) -> int:
        if batch is None:
            with clock.operation():
                return self._copy(clock.source(self.source.rows()))
        rows = 0
        for part in clock.source(self.source.batches(batch)):
            with clock.operation():
                rows += self._copy(part)
        return rows

    def _copy(self, rows: Any) -> int:
        """Copy rows of text in a transaction. Return their number."""
        from psycopg import sql

        count = 0
        statement = sql.SQL("COPY {} FROM STDIN").format(self._table)
        with self._session.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(tuple(row.values()))
                count += 1
        return count

    def _write_tuned(self, batch: int | None, clock: OperationClock) -> int:
        rows = 0
        for part in clock.source(self.source.tables(batch)):
            with clock.operation():
                self._ingest(part)
            rows += part.num_rows
        return rows

    def _ingest(self, table: Any) -> None:
        """Copy an Arrow table in a transaction."""
        with self._arrow.cursor() as cursor:
            cursor.adbc_ingest(self.target, table, mode="append")
            self._arrow.commit()

    def batches(self, rows: int) -> Iterator[Sequence[Any]]:
        return self.source.tables(rows) if self.client == "tuned" else self.source.batches(rows)

    def send(self, batch: Sequence[Any], *, again: bool) -> None:
        """Commit a batch. If the server ends between a commit and its acknowledgement, the batch that is sent again is there twice."""
        with errors(self.server):
            if self.client == "tuned":
                self._ingest(batch)
            else:
                self._copy(batch)

    def reconnect(self) -> None:
        with suppress(StorebenchError), errors(self.server):
            self.close()
        self.connect()

    def barrier(self) -> None:
        pass

    def maintain(self) -> None:
        """Write the visibility map and the planner's statistics. VACUUM FULL would rewrite a table that has no dead rows."""
        from psycopg import sql

        with errors(self.server):
            self._session.execute(sql.SQL("VACUUM (ANALYZE) {}").format(self._table))

    def read(self, clock: OperationClock) -> int:
        rows = 0
        with errors(self.server), clock.operation():
            if self.client == "tuned":
                for part in self._batches():
                    rows += part.num_rows
            else:
                for _ in self._tuples():
                    rows += 1
        return rows

    def _tuples(self) -> Iterator[tuple[Any, ...]]:
        """Yield every row by a server-side cursor, for both the timed read and its second pass."""
        with self._session.transaction(), self._session.cursor(name="read") as cursor:
            cursor.execute(self._select)
            yield from cursor

    def _batches(self) -> Iterator[Any]:
        """Yield Arrow's record batches, for both the timed read and its second pass."""
        with self._arrow.cursor() as cursor:
            cursor.execute(self._select.as_string(self._session))
            yield from cursor.fetch_record_batch()
        self._arrow.commit()

    def needed_bytes(self) -> int:
        """Return the bytes of the table's pages with rows, without long values, which PostgreSQL keeps in another table.

        A server may cut empty pages off the table at any time: the table's size is no lower bound of what a read needs.
        """
        from psycopg import sql

        statement = sql.SQL(
            "SELECT count(DISTINCT (ctid::text::point)[0]) * current_setting('block_size')::bigint FROM {}"
        ).format(self._table)
        with errors(self.server):
            row = self._session.execute(statement).fetchone()
        return int(row[0]) if row else 0

    def count(self) -> int:
        from psycopg import sql

        with errors(self.server):
            row = self._session.execute(sql.SQL("SELECT count(*) FROM {}").format(self._table)).fetchone()
        return int(row[0]) if row else 0

    def scan(self) -> Iterator[Mapping[str, Any]]:
        with errors(self.server):
            if self.operation == "read" and self.client == "tuned":
                for batch in self._batches():
                    yield from arrow.chunks(_as_text(batch), self.source.schema)
                return
            yield from self._texts()

    def _texts(self) -> Iterator[Mapping[str, Any]]:
        """Yield chunks of canonical text from tuples."""
        from storebench.dataset.values import canonical

        names, tuples = self.source.fields, self._tuples()
        while chunk := list(itertools.islice(tuples, VERIFY_CHUNK_ROWS)):
            yield canonical(
                columns([dict(zip(names, row, strict=True)) for row in chunk], names), self.source.schema
            )

    def verified_by(self) -> str:
        tuned = self.client == "tuned" and self.operation == "read"
        return "ADBC fetch_record_batch()" if tuned else "psycopg server-side cursor"

    def size_bytes(self) -> int | None:
        with suppress(StorebenchError), errors(self.server):
            row = self._session.execute(
                "SELECT pg_total_relation_size(to_regclass(quote_ident(%s)))", [self.target]
            ).fetchone()
            return int(row[0]) if row and row[0] is not None else None
        return None

    def drop(self) -> None:
        from psycopg import sql

        with errors(self.server):
            self._session.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self._table))

    def close(self) -> None:
        if self._arrow is not None:
            self._arrow.close()
            self._arrow = None
        self._session.close()

    @property
    def _table(self) -> Identifier:
        from psycopg import sql

        return sql.Identifier(self.target)

    @property
    def _select(self) -> Composed:
        from psycopg import sql

        return sql.SQL("SELECT * FROM {}").format(self._table)


def _kind(field: Field) -> str:
    """Return the type of a field's column."""
    if field.type == "decimal":
        return f"numeric({field.precision or DIGITS}, {field.scale or 0})"
    return TYPES[field.type]


def _as_text(batch: Any) -> Any:
    """Return a record batch without ADBC's opaque types: a numeric is its text."""
    import pyarrow as pa

    arrays = [column.storage if isinstance(column, pa.ExtensionArray) else column for column in batch.columns]
    return pa.record_batch(arrays, names=batch.schema.names)
