"""Brings the results' schema up to date with the numbered files under sql/."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

SQL_FOLDER = Path(__file__).resolve().parents[3] / "sql"


def grant(dsn: str, reader: str) -> None:
    """Let the role `reader`, which is there already, read all results, and those of later migrations; not more."""
    statements = (
        "GRANT USAGE ON SCHEMA storebench TO {}",
        "GRANT SELECT ON ALL TABLES IN SCHEMA storebench TO {}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA storebench GRANT SELECT ON TABLES TO {}",
    )
    with psycopg.connect(dsn) as connection:
        for statement in statements:
            connection.execute(sql.SQL(statement).format(sql.Identifier(reader)))


def migrate(dsn: str, folder: Path = SQL_FOLDER) -> list[str]:
    """Apply the migrations that `dsn` (a postgresql:// URI) lacks; returns their names."""
    from yoyo import get_backend, read_migrations

    if not any(folder.glob("*.sql")):
        raise FileNotFoundError(f"No migrations in {folder}")
    # yoyo keeps its own tables in `public`: a role named storebench would find the schema of its name first
    parts = urlsplit(dsn)
    query = "&".join(filter(None, (parts.query, "schema=public")))
    backend = get_backend(urlunsplit(parts._replace(scheme="postgresql+psycopg", query=query)))
    with backend.lock():
        missing = backend.to_apply(read_migrations(str(folder)))
        backend.apply_migrations(missing)
    return [migration.id for migration in missing]
