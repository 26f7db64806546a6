"""Pool database connections: the page sends many short queries, and a connection per query would take most of their time."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from storebench.results.database.connection import SETTINGS, Row, connected

MOST = 8  # the pool's connections
IDLE_S = 60  # the pool closes a connection that was idle for longer, one connection in this time
WAIT_S = 0.5  # the time limit for a connection from the pool

# The caller gets the error of a failed connection; the library would also print it, for each attempt.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

_POOLS: dict[tuple[str, int], ConnectionPool[psycopg.Connection[Row]]] = {}


@contextmanager
def lent(dsn: str) -> Iterator[psycopg.Connection[Row]]:
    """Lend a connection of this process's pool to the block, with a transaction per statement.

    After WAIT_S without a connection from the pool, the block gets a connection that is closed afterwards. Raises
    psycopg.OperationalError with the server's reason if the server is not available.
    """
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(_pool(dsn).connection())
        except PoolTimeout:
            connection = stack.enter_context(connected(dsn, autocommit=True))
        yield connection


def _pool(dsn: str) -> ConnectionPool[psycopg.Connection[Row]]:
    """Return this process's open pool. A forked process must not use the connections and threads of its parent's pool."""
    process = os.getpid()
    pool = _POOLS.get((dsn, process)) or _POOLS.setdefault((dsn, process), _new(dsn))
    pool.open()
    return pool


def _new(dsn: str) -> ConnectionPool[psycopg.Connection[Row]]:
    return ConnectionPool[psycopg.Connection[Row]](
        dsn,
        kwargs={**SETTINGS, "autocommit": True},
        min_size=0,
        max_size=MOST,
        max_idle=IDLE_S,
        timeout=WAIT_S,
        reconnect_timeout=0,  # the library would try again ever more rarely: the next request tries at once
        check=ConnectionPool.check_connection,
        open=False,
    )
