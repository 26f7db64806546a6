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

Row = dict[str, Any]
P = ParamSpec("P")
R = TypeVar("R")
D = TypeVar("D", bound="Database")


def connected(dsn: str, **settings: Any) -> psycopg.Connection[Row]:
    """A new connection. Raises psycopg.OperationalError where the server is not there."""
    return psycopg.connect(dsn, connect_timeout=CONNECT_TIMEOUT_S, row_factory=dict_row, **settings)


class Database:
    """Opens one connection for each piece of work: it is short, and far from the next.

    `patience_s`: for how long a method that is marked so tries again where the server does not answer.
    """

    def __init__(self, dsn: str, patience_s: float = 0) -> None:
        self._dsn = dsn
        self._patience_s = patience_s

    @contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor[Row]]:
        """A transaction: committed at the end, rolled back where it raises. StoreUnreachable where the server is not there."""
        try:
            with self._connection() as connection, connection.cursor() as cursor:
                yield cursor
        except psycopg.OperationalError as error:
            place = conninfo_to_dict(self._dsn)
            raise StoreUnreachable(
                f"The results database at {place.get('host')}:{place.get('port', 5432)} cannot be used: {error}".strip()
            ) from error

    def _connection(self) -> AbstractContextManager[psycopg.Connection[Row]]:
        return connected(self._dsn)


def patient(method: Callable[Concatenate[D, P], R]) -> Callable[Concatenate[D, P], R]:
    """Try again, as long as the database is patient. For what can be done twice without harm."""

    @functools.wraps(method)
    def call(self: D, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return patiently(self._patience_s)(method, self, *args, **kwargs)

    return call
