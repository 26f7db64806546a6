"""The results database behind a libpq connection string."""

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

CONNECT_TIMEOUT_S = 10
# A host that dies is noticed after half a minute, not when TCP gives up after two hours.
ALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,  # milliseconds
}
# In each transaction that may write: whoever waits for a lock, or holds one and does nothing, is ended. Sent as a statement, since PgBouncer
# passes no options on, and gives a session's settings to others.
BOUNDS = "SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '60s'"

Row = dict[str, Any]
P = ParamSpec("P")
R = TypeVar("R")
D = TypeVar("D", bound="Database")


def connected(dsn: str, **settings: Any) -> psycopg.Connection[Row]:
    """Return a new connection. Raises psycopg.OperationalError where the server is not there.

    No statement is prepared: behind PgBouncer the next transaction may have another server, which does not know the statement.
    """
    return psycopg.connect(
        dsn,
        connect_timeout=CONNECT_TIMEOUT_S,
        row_factory=dict_row,
        prepare_threshold=None,
        **ALIVE,
        **settings,
    )


class Database:
    """Opens one connection for each piece of work: it is short, and far from the next.

    `patience_s`: for how many seconds it tries again to connect where the server does not answer, and methods marked `patient` try again as
    a whole.
    """

    def __init__(self, dsn: str, patience_s: float = 0) -> None:
        self._dsn = dsn
        self._patience_s = patience_s

    @contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor[Row]]:
        """A transaction: committed at the end, rolled back where it raises. StoreUnreachable where the server is not there."""
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

    def _connection(self) -> AbstractContextManager[psycopg.Connection[Row]]:
        # To connect again does no harm, whatever the method is.
        return patiently(self._patience_s, psycopg.OperationalError)(connected, self._dsn)


def patient(method: Callable[Concatenate[D, P], R]) -> Callable[Concatenate[D, P], R]:
    """Try again, as long as the database is patient. For what can be done twice without harm."""

    @functools.wraps(method)
    def call(self: D, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return patiently(self._patience_s)(method, self, *args, **kwargs)

    return call
