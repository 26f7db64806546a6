"""Connections to a results database that are used again: what answers many short questions would spend most of its time on opening them."""

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

IDLE_S = 60  # a connection that nobody has used for longer is closed by the next piece of work
MOST_IDLE = 8


class Pool:
    """A pool of connections for reading, with a transaction per statement. It opens as many as are in use, and keeps MOST_IDLE."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._lock = threading.Lock()
        self._idle: list[tuple[psycopg.Connection[dict[str, Any]], float]] = []  # the one used last is last

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[dict[str, Any]]]:
        """One that nobody else has until the block ends. Raises psycopg.OperationalError where the server is not there."""
        found = self._taken() or connected(self._dsn, autocommit=True)
        try:
            yield found
        except BaseException:
            found.close()
            raise
        self._give_back(found)

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
    """A server that ends a connection says so, or closes it: then there is something to read, although nothing was asked."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)


@lru_cache(maxsize=8)
def pool_of(dsn: str) -> Pool:
    """The pool of this process for that database."""
    return Pool(dsn)
