"""The store PostgreSQL: a row is a row of a table with a column for each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any

from storebench import s3
from storebench.dataset.schema import FIELDS, Field
from storebench.errors import StoreRefused
from storebench.stores.base import Durability, Server
from storebench.stores.counters import postgresql as postgresql_counters
from storebench.stores.postgresql_server import connected, durability_of, errors, identify
from storebench.stores.queries.base import ASK
from storebench.stores.queries.sql import STANDARD, SqlStore

if TYPE_CHECKING:
    from storebench.attempt.clock import OperationClock
    from storebench.stores.queries.incoming import Batch

BLOCK_BYTES = 1 << 18
COPY = "COPY {table} FROM STDIN (FORMAT csv, HEADER true)"
_TYPES = {
    "integer": "bigint",
    "float": "double precision",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
    "string": "text",
}
# Indexes of the tuned client. PostgreSQL's documentation recommends B-trees for ranges, sorts and joins, an index-only scan for
# aggregates of few columns, and trigrams (pg_trgm) for a text that contains another.
INDEXES = (
    "CREATE INDEX ON {table} (order_date) INCLUDE (quantity)",
    "CREATE INDEX ON {table} (total_amount DESC, id)",
    "CREATE INDEX ON {table} (last_name, id) INCLUDE (quantity)",
    "CREATE INDEX ON {table} (status) INCLUDE (quantity)",
    "CREATE INDEX ON {table} (device_id) INCLUDE (quantity)",
    "CREATE INDEX ON {table} (quantity)",
    "CREATE INDEX ON {table} (duration_ms)",
    "CREATE INDEX ON {table} (discount_rate)",
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX ON {table} USING gin (comment gin_trgm_ops)",
)


class PostgreSQL(SqlStore):
    """PostgreSQL with a table per target, whose primary key is the id. `reference` has no other index; `tuned` has INDEXES.

    A load ends with VACUUM ANALYZE, as the documentation recommends after a bulk load. Otherwise the server would do both later, during a
    measurement.
    """

    name = "postgresql"
    clients = ("reference", "tuned")
    connection = "postgresql"
    counters = postgresql_counters.COUNTERS
    packages = ("psycopg",)
    modules = (*SqlStore.modules, "psycopg")
    divides = (ASK,)
    statements = STANDARD

    @property
    def table(self) -> str:
        return f'"{self.target}"'

    def connect(self) -> None:
        assert self.server is not None
        self._session = connected(self.server)

    def fetch(self, statement: str) -> Sequence[Sequence[Any]]:
        with self._errors():
            return self._session.execute(statement).fetchall()

    def describe(self) -> Server:
        with self._errors():
            return identify(self._session)

    def read_counters(self) -> Mapping[str, float | str]:
        with self._errors():
            return postgresql_counters.read(self._session, self.target)

    def client_settings(self) -> Mapping[str, Any]:
        indexes = len(INDEXES) - 1 if self.client == "tuned" else 0
        return {**super().client_settings(), "indexes": 1 + indexes}

    def durability(self) -> Durability:
        return durability_of(self.describe().settings)

    def create(self) -> None:
        self.drop()
        columns = ", ".join(f'"{field.name}" {_type(field)}' for field in FIELDS)
        with self._errors():
            self._session.execute(f"CREATE TABLE {self.table} ({columns}, PRIMARY KEY (id))")

    def load(self, clock: OperationClock) -> None:
        with self._errors(), clock.operation():
            with self._session.cursor().copy(COPY.format(table=self.table)) as copy:
                for block in clock.source(self._blocks()):
                    copy.write(block)
            for statement in INDEXES if self.client == "tuned" else ():
                self._session.execute(statement.format(table=self.table))
            self._session.execute(f"VACUUM ANALYZE {self.table}")

    def _blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the dataset's CSV."""
        source = self.source
        with s3.errors(source.s3_client, source.bucket, source.key):
            body = source.s3_client.get_object(Bucket=source.bucket, Key=source.key)["Body"]
            while block := body.read(BLOCK_BYTES):
                yield block

    def run(self, statement: str) -> None:
        with self._errors():
            self._session.execute(statement)

    def append(self, batch: Batch) -> None:
        with self._errors(), self._session.cursor().copy(COPY.format(table=self.table)) as copy:
            copy.write(batch.text)

    def size_bytes(self) -> int | None:
        with suppress(StoreRefused):
            return int(self.fetch(f"SELECT pg_total_relation_size('{self.table}')")[0][0])
        return None

    def drop(self) -> None:
        with self._errors():
            self._session.execute(f"DROP TABLE IF EXISTS {self.table}")

    def close(self) -> None:
        self._session.close()

    def _errors(self) -> AbstractContextManager[None]:
        return errors(self.server)


def _type(field: Field) -> str:
    """Return the column type of a field, with NOT NULL unless the field is nullable."""
    kind = (
        f"numeric({field.precision or 10}, {field.scale})" if field.type == "decimal" else _TYPES[field.type]
    )
    return kind if field.nullable else f"{kind} NOT NULL"
