"""Brings the results' schema up to date: the numbered files under sql/ once each, then the views of sql/views/."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from storebench.results import study_views

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
        if views := sorted((folder / "views").glob("*.sql")):
            _make_views(dsn, views)
    return [migration.id for migration in missing]


def _make_views(dsn: str, files: list[Path]) -> None:
    """Put the views of these files (`1-results.sql` has `storebench.results`) in the place of those that are there, if they differ.

    A view may read those of the files before it. Those of the studies are made of them. Whether they differ, a comment on the last of
    them tells.
    """
    texts = [file.read_text() for file in files]
    made_of = hashlib.sha256("\n".join([*texts, Path(study_views.__file__).read_text()]).encode()).hexdigest()
    views = [sql.Identifier("storebench", file.stem.partition("-")[2]) for file in files]
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        found = connection.execute(
            "SELECT obj_description(to_regclass(%s), 'pg_class') AS made_of",
            (views[-1].as_string(connection),),
        ).fetchone()
        if found == {"made_of": made_of}:
            return
        cursor = connection.cursor()
        studies = cursor.execute("SELECT details FROM storebench.study ORDER BY name").fetchall()
        for study in studies:
            study_views.drop(cursor, study["details"]["name"])
        for view in reversed(views):
            connection.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(view))
        for text in texts:
            connection.execute(text.encode())
        for study in studies:
            study_views.make(cursor, study["details"])
        connection.execute(sql.SQL("COMMENT ON VIEW {} IS {}").format(views[-1], sql.Literal(made_of)))
