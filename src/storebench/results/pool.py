"""Pool database connections: the page sends many short queries, and a connection per query would take most of their time."""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import psycopg

from storebench.results.database import connected

IDLE_S = 60  # a connection that was idle for longer is closed with the next use of the pool
MOST_IDLE = 8


class Pool:
    """A pool of connections for reading, with a transaction per statement. It keeps up to MOST_IDLE idle connections."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._lock = threading.Lock()
        self._idle: list[
            tuple[psycopg.Connection[dict[str, Any]], float]
        ] = []  # the most recently used connection is last

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[dict[str, Any]]]:
        """Lend a connection exclusively to the block. Raises psycopg.OperationalError if the server is not available."""
        lent = self._taken() or connected(self._dsn, autocommit=True)
        try:
            yield lent
        except BaseException:
            lent.close()
            raise
        self._give_back(lent)

    def _taken(self) -> psycopg.Connection[dict[str, Any]] | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                found, since_s = self._idle.pop()
            if time.monotonic() - since_s < IDLE_S and not found.closed and _is_quiet(found):
                return found
            found.close()

    def _give_back(self, connection: psycopg.Connection[dict[str, Any]]) -> None:
        now_s = time.monotonic()
        with self._lock:
            self._idle.append((connection, now_s))
            kept = [one for one in self._idle if now_s - one[1] < IDLE_S][-MOST_IDLE:]
            old = [one for one, _ in self._idle if all(one is not other for other, _ in kept)]
            self._idle = kept
        for one in old:
            one.close()


def _is_quiet(connection: psycopg.Connection[Any]) -> bool:
    """Return whether nothing can be read from an idle connection. A server that ends the connection sends a message or closes it."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)


@lru_cache(maxsize=8)
def pool_of(dsn: str) -> Pool:
    """Return this process's pool for a database."""
    return Pool(dsn)
