"""Connect to the results database."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from storebench.errors import StoreUnreachable
from storebench.patience import patiently
from storebench.results.database import schema

CONNECT_TIMEOUT_S = 10
# Detect a dead host after half a minute; TCP itself would need two hours.
ALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,  # milliseconds
}
# End sessions that wait for a lock, or hold a lock without working. Sent as a statement in each transaction that may write: PgBouncer drops
# connection options, and shares a session's settings between clients.
BOUNDS = "SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '60s'"

Row = dict[str, Any]
P = ParamSpec("P")
R = TypeVar("R")
D = TypeVar("D", bound="Database")


# Of each connection. Statements are not prepared: behind PgBouncer the next transaction may use another session without the prepared
# statement.
SETTINGS: dict[str, Any] = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "row_factory": dict_row,
    "prepare_threshold": None,
    **ALIVE,
}


def connected(dsn: str, **settings: Any) -> psycopg.Connection[Row]:
    """Return a new connection. Raises psycopg.OperationalError if the server is not available."""
    return psycopg.connect(dsn, **SETTINGS, **settings)


class Database:
    """A client of the results database with a connection per transaction, since transactions are short and rare.

    `patience_s`: seconds to retry a failed connection, and to retry methods marked `patient` as a whole.
    """

    def __init__(self, dsn: str, patience_s: float = 0) -> None:
        self._dsn = dsn
        self._patience_s = patience_s

    @contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor[Row]]:
        """Open a transaction: commit at the end, roll back on an error. Raises StoreUnreachable if the server is not available."""
        try:
            with self._connection() as connection, connection.cursor() as cursor:
                if not connection.autocommit:
                    cursor.execute(BOUNDS)
                yield cursor
        except psycopg.OperationalError as error:
            place = conninfo_to_dict(self._dsn)
            raise StoreUnreachable(
                f"The results database at {place.get('host')}:{place.get('port', 5432)} cannot be used: {error}".strip()
            ) from error

    def check_schema(self) -> None:
        """Raise SchemaDiffers unless the database has the schema of this version of Storebench."""
        with self._cursor() as cursor:
            schema.check(cursor.connection)

    def _connection(self) -> AbstractContextManager[psycopg.Connection[Row]]:
        # Connecting is idempotent, so every method may retry it.
        return patiently(self._patience_s, psycopg.OperationalError)(connected, self._dsn)


def patient(method: Callable[Concatenate[D, P], R]) -> Callable[Concatenate[D, P], R]:
    """Retry an idempotent method for the database's `patience_s` seconds."""

    @functools.wraps(method)
    def call(self: D, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return patiently(self._patience_s)(method, self, *args, **kwargs)

    return call
