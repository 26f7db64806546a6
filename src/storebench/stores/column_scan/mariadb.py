"""MariaDB with the study's table and query. `reference` inserts rows. `tuned` loads a file, and its sums only read an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storebench.connection import tls
from storebench.errors import SpecError, StoreRefused, StoreUnreachable, VerificationFailed
from storebench.stores.base import Durability, Server, TypicalTime
from storebench.stores.caches import Cold, Servers, reconnect
from storebench.stores.column_scan import mariadb_rows as rows_of
from storebench.stores.column_scan.base import ScanStore
from storebench.stores.column_scan.table import COLUMNS, TABLE
from storebench.stores.counters import mariadb as mariadb_counters

if TYPE_CHECKING:
    import numpy as np

    from storebench.attempt.clock import OperationClock
    from storebench.stores.column_scan.base import Columns

# A record of the table has about 158 bytes of values and 24 of overhead; a record of the index 8 bytes of value and at least 11.
TABLE_ROW_BYTES, INDEX_ROW_BYTES = 150, 19
BATCH_ROWS = 1_000  # rows of an executemany
COMMIT_ROWS = 10_000
FETCH_ROWS = 20_000
CONNECT_S = 10
PORT = 3306
SETTINGS = (
    "innodb_buffer_pool_size",
    "innodb_buffer_pool_load_at_startup",
    "innodb_buffer_pool_dump_at_shutdown",
    "innodb_flush_method",
    "innodb_flush_log_at_trx_commit",
    "query_cache_type",
)
CREATE = (
    f"CREATE TABLE {TABLE} ({', '.join(f'`{column.name}` {column.sql}' for column in COLUMNS)})"
    " ENGINE=InnoDB DEFAULT CHARSET=utf8 COLLATE=utf8_unicode_ci"
)
SELECT = "SELECT SQL_NO_CACHE"  # without it, a query cache would answer the second sum and the verification
UNREACHABLE = (2002, 2003, 2006, 2013)  # error codes of the client


class Mariadb(ScanStore):
    """MariaDB with a database of the target's name for the table."""

    name = "mariadb"
    clients = ("reference", "tuned")
    connection = "mariadb"
    counters = mariadb_counters.COUNTERS
    packages = ("numpy", "pymysql")
    typical = (
        TypicalTime("write", fixed_s=17, million_s=20),
        TypicalTime("cold_sum", fixed_s=9.5, million_s=1),
        TypicalTime("hot_sum", fixed_s=4, million_s=1),
    )
    modules = (*ScanStore.modules, "pymysql")
    _session: Any = None
    _rows_read = 0  # rows that the server read during the last timed scan

    def connect(self) -> None:
        super().connect()
        self._servers = Servers.from_environment()
        if self.operation == "cold_sum" and not self._servers:
            raise SpecError(
                "A cold sum needs the agent of a server that the run provisions, which empties the caches and proves this: ask for mariadb@one"
            )
        self._open(with_database=False)

    def describe(self) -> Server:
        variables = dict(self._ask("SHOW GLOBAL VARIABLES"))
        return Server("MariaDB", variables["version"], {name: variables.get(name) for name in SETTINGS})

    def client_settings(self) -> Mapping[str, Any]:
        return {"batch_rows": BATCH_ROWS, "commit_rows": COMMIT_ROWS} if self.client == "reference" else {}

    def read_counters(self) -> Mapping[str, float | str]:
        return mariadb_counters.read(self._ask(mariadb_counters.STATEMENT))

    def durability(self) -> Durability:
        ((_, value),) = self._ask("SHOW GLOBAL VARIABLES LIKE 'innodb_flush_log_at_trx_commit'")
        return Durability("disk" if value == "1" else "memory", f"innodb_flush_log_at_trx_commit={value}")

    def write(self, columns: Columns, clock: OperationClock) -> None:
        self._ask(f"DROP DATABASE IF EXISTS `{self.target}`")
        self._ask(f"CREATE DATABASE `{self.target}`")
        self._ask(f"USE `{self.target}`")
        if self.client == "reference":
            with clock.operation(), self._errors():
                self._ask(CREATE)
                self._insert(clock.source(rows_of.batches(columns, BATCH_ROWS)))
        else:
            path = Path("/tmp", f"{self.target}.tsv")
            try:
                rows_of.write_file(path, columns)
                with clock.operation():
                    self._ask(CREATE)
                    self._ask(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {TABLE} CHARACTER SET utf8")
                    self._session.commit()
                    self._ask(f"ALTER TABLE {TABLE} ADD KEY {self.column} ({self.column})")
            finally:
                path.unlink(missing_ok=True)
        self._ask(f"ANALYZE TABLE {TABLE}")

    def stored_bytes(self) -> int:
        """Return the bytes of data and indexes, as reported by the server."""
        ((data, index),) = self._ask(
            "SELECT data_length, index_length FROM information_schema.tables WHERE table_schema = %s AND table_name = %s",
            (self.target, TABLE),
        )
        return int(data) + int(index)

    def make_cold(self) -> Cold:
        return self._servers.make_cold(self._away(), self._needed_bytes())

    def scan(self) -> float:
        ((total,),) = self._ask(f"{SELECT} SUM({self.column}) FROM {TABLE}")
        return float(total)

    def timed_scan(self, clock: OperationClock) -> float:
        """Time the query, and count the rows that the server reads for it. The counter is read outside the timed window."""
        before = self._rows_read_so_far()
        total = super().timed_scan(clock)
        self._rows_read = self._rows_read_so_far() - before
        return total

    def prove_scanned(self) -> str:
        """Compare the number of rows that the server read with the table's: an answer from the query cache reads none."""
        if self._rows_read < self.rows:
            raise VerificationFailed(
                f"The server has read {self._rows_read:,} rows for the sum, and the table has {self.rows:,}: its query cache has answered,"
                " or something else has. Turn it off (query_cache_type=0), and connect to the server itself, not to a proxy"
            )
        return f"{self._rows_read:,} rows read by the server for it (Rows_read)"

    def count(self) -> int:
        ((rows,),) = self._ask(f"{SELECT} COUNT(*) FROM {TABLE}")
        return int(rows)

    def additions(self) -> int:
        """Return the number of rows: the server adds them one after the other."""
        return self.rows

    def read_bytes(self) -> int:
        """Return the bytes that the servers read from disk; without agents, the bytes that InnoDB read from its files."""
        if self._servers:
            return self._servers.read_bytes()
        ((_, value),) = self._ask("SHOW GLOBAL STATUS LIKE 'Innodb_data_read'")
        return int(value)

    def prepare(self, manifest: Mapping[str, Any], prefix: str) -> None:
        self._use()

    def read_back(self, column: str) -> np.ndarray[Any, Any]:
        ((_, values),) = self._values([column])
        return values

    def read_back_all(self) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        """Read all columns in one pass over the table."""
        yield from self._values([column.name for column in COLUMNS])

    def drop(self) -> None:
        self._ask(f"DROP DATABASE IF EXISTS `{self.target}`")

    def close(self) -> None:
        if self._session is not None:
            with suppress(Exception):  # the session may already be closed
                self._session.close()

    @contextmanager
    def _away(self) -> Iterator[None]:
        """Close the session during a restart of the server, and reconnect at the end."""
        self._session.close()
        self._session = None
        yield
        reconnect(self._open)

    def _needed_bytes(self) -> int:
        """Return the bytes of the records that the sum reads, without free space in their pages."""
        return self.rows * (INDEX_ROW_BYTES if self.client == "tuned" else TABLE_ROW_BYTES)

    def _insert(self, batches: Iterator[Sequence[Sequence[Any]]]) -> None:
        places = ", ".join(["%s"] * len(COLUMNS))
        inserted = 0
        with self._session.cursor() as cursor:
            for batch in batches:
                cursor.executemany(f"INSERT INTO {TABLE} VALUES ({places})", batch)
                inserted += len(batch)
                if inserted % COMMIT_ROWS == 0:
                    self._session.commit()
        self._session.commit()

    def _values(self, names: Sequence[str]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        """Yield columns in the order of the inserts, which is the order of the table's hidden key."""
        from pymysql.cursors import SSCursor

        wanted = ", ".join(rows_of.selected(name) for name in names)
        with self._errors(), self._session.cursor(SSCursor) as cursor:
            cursor.execute(f"{SELECT} {wanted} FROM {TABLE} USE INDEX ()")
            yield from rows_of.columns(names, _parts(cursor)).items()

    def _rows_read_so_far(self) -> int:
        """Return the session's counter of rows read. Raises StoreRefused for a server without this counter."""
        status = dict(self._ask("SHOW SESSION STATUS LIKE 'Rows_read'"))
        if "Rows_read" not in status:
            raise StoreRefused(
                "The server has no counter Rows_read, so nothing tells a sum from an answer of its query cache: use MariaDB 10 or newer"
            )
        return int(status["Rows_read"])

    def _use(self) -> None:
        self._ask(f"USE `{self.target}`")

    def _open(self, *, with_database: bool = True) -> None:
        import pymysql

        assert self.server is not None
        ((host, port),) = self.server.addresses(PORT)
        with self._errors():
            self._session = pymysql.connect(
                host=host,
                port=port,
                user=self.server.login or "root",
                password=self.server.password or "",
                ssl=tls.context(self.server) if self.server.tls else None,
                ssl_disabled=self.server.extra.get("tls") is False,
                charset="utf8mb4",
                local_infile=True,
                connect_timeout=CONNECT_S,
            )
        if with_database:
            self._use()

    def _ask(self, sql: str, values: Sequence[Any] = ()) -> Any:
        with self._errors(), self._session.cursor() as cursor:
            cursor.execute(sql, values or None)
            return cursor.fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the client's errors into StoreUnreachable or StoreRefused."""
        import pymysql

        assert self.server is not None
        where = self.server.where(PORT)
        try:
            yield
        except pymysql.MySQLError as error:
            code, said = (*error.args, "", "")[:2]
            if code in UNREACHABLE:
                more = tls.advice(str(said), self.server) or ". Is it running, and reachable from the pods?"
                raise StoreUnreachable(
                    f"MariaDB at {where} does not answer ({code}): {said}{more}"
                ) from error
            raise StoreRefused(f"MariaDB at {where} refused ({code}): {said}") from error


def _parts(cursor: Any) -> Iterator[Sequence[Sequence[Any]]]:
    while part := cursor.fetchmany(FETCH_ROWS):
        yield part
