"""Brings the results' schema up to date: the numbered files under sql/ once each, then the views of sql/views/."""

from __future__ import annotations

import hashlib
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
    """Apply the migrations that `dsn` (a postgresql:// URI) lacks, and make its views anew; returns the migrations' names."""
    from yoyo import get_backend, read_migrations

    if not any(folder.glob("*.sql")):
        raise FileNotFoundError(f"No migrations in {folder}")
    # yoyo's own tables belong into `public`. For a role named storebench, the schema of that name would come first
    parts = urlsplit(dsn)
    query = "&".join(filter(None, (parts.query, "schema=public")))
    backend = get_backend(urlunsplit(parts._replace(scheme="postgresql+psycopg", query=query)))
    with backend.lock():
        missing = backend.to_apply(read_migrations(str(folder)))
        backend.apply_migrations(missing)
        _make_views(dsn, sorted((folder / "views").glob("*.sql")))
    return [migration.id for migration in missing]


def _make_views(dsn: str, files: list[Path]) -> None:
    """Put the views of these files (`1-results.sql` has `storebench.results`) in the place of those that are there, if they differ.

    A view may read those of the files before it. Whether they differ, a comment on the last of them tells.
    """
    texts = [file.read_text() for file in files]
    made_of = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    views = [sql.Identifier("storebench", file.stem.partition("-")[2]) for file in files]
    with psycopg.connect(dsn) as connection:
        found = connection.execute(
            "SELECT obj_description(to_regclass(%s), 'pg_class')", (views[-1].as_string(connection),)
        ).fetchone()
        if found == (made_of,):
            return
        for view in reversed(views):
            connection.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(view))
        for text in texts:
            connection.execute(text.encode())
        connection.execute(sql.SQL("COMMENT ON VIEW {} IS {}").format(views[-1], sql.Literal(made_of)))
