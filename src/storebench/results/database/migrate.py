"""Update the schema of the results: apply the numbered files under sql/ once each, then create the views of sql/views/."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from storebench.errors import SpecError
from storebench.protocol.figures import FIGURES
from storebench.results.database import schema, study_views
from storebench.results.database.schema import SQL_FOLDER
from storebench.study.record import StudyRecord

# The line of a view in place of the declared figures of the attempt `a`.
FIGURES_LINE = "    -- FIGURES: `storebench migrate` puts the columns of storebench.protocol.figures here\n"


def grant(dsn: str, reader: str) -> None:
    """Grant the existing role `reader` read access to all results, including tables of later migrations."""
    statements = (
        "GRANT USAGE ON SCHEMA storebench TO {}",
        "GRANT SELECT ON ALL TABLES IN SCHEMA storebench TO {}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA storebench GRANT SELECT ON TABLES TO {}",
    )
    with psycopg.connect(dsn) as connection:
        for statement in statements:
            connection.execute(sql.SQL(statement).format(sql.Identifier(reader)))


def migrate(dsn: str, folder: Path = SQL_FOLDER) -> list[str]:
    """Apply the migrations that the database lacks, and recreate its views. Return the migrations' names. `dsn`: a postgresql:// URI.

    Raises SchemaDiffers for a database that a newer version has migrated: this version would replace the newer views.
    """
    from yoyo import get_backend, read_migrations

    number = schema.needed(folder)
    # yoyo's tables belong in `public`. For a role named storebench, the schema storebench would be first in the search path
    parts = urlsplit(dsn)
    query = "&".join(filter(None, (parts.query, "schema=public")))
    backend = get_backend(urlunsplit(parts._replace(scheme="postgresql+psycopg", query=query)))
    with backend.lock():
        with psycopg.connect(dsn) as connection:
            found = schema.check_not_newer(connection) or 0
        migrations = read_migrations(str(folder))
        # A restored backup of the schema `storebench` has the tables, but not yoyo's list of applied migrations.
        there = migrations.filter(lambda migration: schema.number_of(migration.id) <= found)
        backend.mark_migrations(backend.to_apply(there))
        missing = backend.to_apply(migrations)
        backend.apply_migrations(missing)
        if views := sorted((folder / "views").glob("*.sql")):
            _make_views(dsn, views)
        with psycopg.connect(dsn) as connection:
            schema.record(connection, number)
    return [migration.id for migration in missing]


def view_text(file: Path) -> str:
    """Return the SQL of a view, with the declared figures of an attempt in place of FIGURES_LINE."""
    columns = "".join(f"    a.{name},\n" for name in FIGURES)
    return file.read_text().replace(FIGURES_LINE, columns)


def _make_views(dsn: str, files: list[Path]) -> None:
    """Replace the views by the views in these files if they differ. `1-results.sql` has the view `storebench.results`.

    A view may read the views of earlier files. The studies' views read these views. A comment on the last view shows whether they differ.
    """
    texts = [view_text(file) for file in files]
    made_of = hashlib.sha256("\n".join([*texts, Path(study_views.__file__).read_text()]).encode()).hexdigest()
    views = [sql.Identifier("storebench", file.stem.partition("-")[2]) for file in files]
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        comment = connection.execute(
            "SELECT obj_description(to_regclass(%s), 'pg_class') AS made_of",
            (views[-1].as_string(connection),),
        ).fetchone()
        if comment == {"made_of": made_of}:
            return
        cursor = connection.cursor()
        studies = cursor.execute("SELECT name, details FROM storebench.study ORDER BY name").fetchall()
        for study in studies:
            study_views.drop(cursor, study["name"])
        for view in reversed(views):
            connection.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(view))
        for text in texts:
            connection.execute(text.encode())
        for study in studies:
            with suppress(
                SpecError
            ):  # a record that this version cannot read has no views until the study's next run
                study_views.make(cursor, StudyRecord.read(study["details"], study["name"]))
        connection.execute(sql.SQL("COMMENT ON VIEW {} IS {}").format(views[-1], sql.Literal(made_of)))
