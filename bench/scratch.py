"""A database for a while."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg


@contextmanager
def scratch(server: str) -> Iterator[str]:
    """The URI of a new, empty database beside the one at the URI `server`; it is dropped again."""
    name = f"storebench_scratch_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            _drop(admin, name)


def _drop(admin: psycopg.Connection, name: str) -> None:
    """PostgreSQL's own vacuum may be in it for a moment, which only a superuser may end."""
    for _ in range(50):
        try:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
            return
        except psycopg.errors.InsufficientPrivilege:
            time.sleep(0.2)
    admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
