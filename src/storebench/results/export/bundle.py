"""Export a run to one file, a bundle, and load it into a database. A bundle has all rows of the run, with a checksum of each part.

The checksums show that a bundle is complete. They do not show its author: storebench.results.export.signature does.
"""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from storebench.errors import SpecError
from storebench.results.database import study_views
from storebench.results.database.connection import Database, Row
from storebench.results.database.repository import Repository
from storebench.results.export import bundle_check, bundle_file
from storebench.results.runs.summary import refresh
from storebench.study.record import StudyRecord

NEWEST_STUDY = (
    "(name) DO UPDATE SET operations = excluded.operations, details = excluded.details, recorded_at = excluded.recorded_at"
    " WHERE study.recorded_at < excluded.recorded_at"
)

# The tables with rows of a run, in the order of inserts, each with the condition that selects the run's rows.
_ATTEMPTS = "(SELECT {what} FROM storebench.attempt WHERE run_id = %(run)s)"
TABLES = {
    "dataset": "id IN " + _ATTEMPTS.format(what="dataset_id"),
    "environment": "hash IN " + _ATTEMPTS.format(what="environment_hash"),
    "parameters": "hash IN " + _ATTEMPTS.format(what="parameters_hash"),
    "study": "name = (SELECT study FROM storebench.run WHERE id = %(run)s)",
    "cell": "key IN (SELECT cell_key FROM storebench.run_cell WHERE run_id = %(run)s)",
    "run": "id = %(run)s",
    "run_cell": "run_id = %(run)s",
    "attempt": "run_id = %(run)s",
    "phase": "attempt_id IN " + _ATTEMPTS.format(what="id"),
    "artifact": "attempt_id IN " + _ATTEMPTS.format(what="id"),
    "usage": "attempt_id IN " + _ATTEMPTS.format(what="id"),
    "counter": "attempt_id IN " + _ATTEMPTS.format(what="id"),
    "profile": "attempt_id IN " + _ATTEMPTS.format(what="id"),
}

# Tables whose rows belong to a single run.
OF_RUN = ("run_cell", "attempt", "phase", "artifact", "usage", "counter", "profile")


class Bundles(Database):
    """The exporter and loader of bundles."""

    def export(self, run_id: str, path: Path) -> dict[str, int]:
        """Write the run's rows to a zip file at `path`. Return the number of rows of each table.

        Raises SpecError for a run that has not ended.
        """
        tables: dict[str, list[Row]] = {}
        with self._cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for table, condition in TABLES.items():
                query = sql.SQL(
                    "SELECT to_jsonb(t) AS row FROM storebench.{} AS t WHERE " + condition
                ).format(sql.Identifier(table))
                rows = [row["row"] for row in cursor.execute(query, {"run": run_id})]
                if table == "run" and rows[0]["state"] == "running":
                    raise SpecError(f"The run {run_id} has not ended: export it when it has")
                tables[table] = sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
        bundle_file.write(path, run_id, tables)
        return {table: len(rows) for table, rows in tables.items()}

    def load(
        self, path: Path, content: bytes | None = None, *, more_attempts: bool = False
    ) -> tuple[str, dict[str, int]]:
        """Insert the rows of a bundle that the database lacks. Return the run's id, and the number of new rows of each table.

        `content`: the file's bytes, if its signature was verified. `more_attempts`: also add attempts to a run that the database already
        has; they supersede older tries. Raises SpecError for a file that is no bundle, for rows of another run, for a different run of the
        same id, and for new attempts of a known run without `more_attempts`.
        """
        content = bundle_file.content_of(path) if content is None else content
        try:
            tables = bundle_file.read(path, content, tuple(TABLES))
        except (KeyError, TypeError, AttributeError) as error:
            raise SpecError(f"{path}: the rows lack what each bundle has: {error!r:.200}") from error
        run = bundle_check.check(tables)
        with self._cursor() as cursor:
            new = _insert_all(cursor, tables, run, more_attempts)
        refresh(Repository(self._dsn), [cell["key"] for cell in tables.get("cell", [])])
        return str(run["id"]), new


def _insert_all(
    cursor: psycopg.Cursor[Row], tables: dict[str, list[Row]], run: Row, more_attempts: bool
) -> dict[str, int]:
    """Insert the rows of a checked bundle. Return the number of new rows of each table. Raises SpecError for misfits."""
    recorded = cursor.execute(
        "SELECT to_jsonb(t) AS row FROM storebench.run AS t WHERE id = %s", (run["id"],)
    ).fetchone()
    if recorded and any(recorded["row"][name] != run.get(name) for name in ("started_at", "params")):
        raise SpecError(
            f"There is already another run {run['id']} here, started at {recorded['row']['started_at']}"
        )
    new = {table: _insert(cursor, table, rows) if (rows := tables.get(table)) else 0 for table in TABLES}
    if (
        recorded
        and not more_attempts
        and (more := [f"{new[table]} {table}" for table in OF_RUN if new[table]])
    ):
        raise SpecError(
            f"The run {run['id']} is here already, and the bundle has rows that it lacks ({', '.join(more)}). They would supersede"
            " or change attempts. If you trust the bundle, add --more-attempts"
        )
    if new["study"]:
        _make_views(cursor, run["study"])
    return new


def _insert(cursor: psycopg.Cursor[Row], table: str, rows: list[Row]) -> int:
    """Insert the rows that a table lacks, all with the same columns. Return their number. Raises SpecError for an unknown column.

    Of two versions of a study's row, the version recorded last stays.
    """
    columns = sql.SQL(", ").join(map(sql.Identifier, rows[0]))
    insert = (
        "INSERT INTO storebench.{table} ({columns})"
        " SELECT {columns} FROM jsonb_populate_recordset(NULL::storebench.{table}, %s) ON CONFLICT {otherwise}"
    )
    otherwise = NEWEST_STUDY if table == "study" else "DO NOTHING"
    try:
        cursor.execute(
            sql.SQL(insert).format(
                table=sql.Identifier(table), columns=columns, otherwise=sql.SQL(otherwise)
            ),
            (Jsonb(rows),),
        )
    except psycopg.errors.UndefinedColumn as error:
        raise SpecError(
            f"The bundle is from a newer version of Storebench: {error.diag.message_primary}"
        ) from error
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        raise SpecError(f"The bundle's rows of {table} do not fit: {error.diag.message_primary}") from error
    return cursor.rowcount


def _make_views(cursor: psycopg.Cursor[Row], name: str) -> None:
    row = cursor.execute("SELECT details FROM storebench.study WHERE name = %s", (name,)).fetchone()
    assert row is not None
    try:
        study_views.make(cursor, StudyRecord.read(row["details"], name))
    except psycopg.Error as error:
        raise SpecError(f"The bundle's study {name!r} cannot have views: {error}") from error
