"""Create temporary databases."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg


@contextmanager
def scratch(server: str) -> Iterator[str]:
    """Create an empty database on the server of the URI `server`, and drop it after the block. Yield its URI."""
    name = f"storebench_scratch_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            _drop(admin, name)


def _drop(admin: psycopg.Connection, name: str) -> None:
    """Drop a database. Retry while PostgreSQL's vacuum uses it, which only a superuser may end."""
    for _ in range(50):
        try:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
            return
        except psycopg.errors.InsufficientPrivilege:
            time.sleep(0.2)
    admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
