"""A run as one file: all its rows, with a checksum of each part, to keep or to load into another database.

The checksums show that a bundle arrived whole, not who made it: that is storebench.results.signature's.
"""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from storebench.errors import SpecError
from storebench.results import bundle_check, bundle_file, study_views
from storebench.results.database import Database, Row
from storebench.results.repository import Repository
from storebench.results.summary import refresh

NEWEST_STUDY = (
    "(name) DO UPDATE SET operations = excluded.operations, details = excluded.details, recorded_at = excluded.recorded_at"
    " WHERE study.recorded_at < excluded.recorded_at"
)

# The tables with rows of a run, in an order in which they can be inserted, each with the condition that finds its rows.
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
}

OF_RUN = ("run_cell", "attempt", "phase", "artifact", "usage")  # tables whose rows belong to one run alone


class Bundles(Database):
    """Writes and loads bundles."""

    def export(self, run_id: str, path: Path) -> dict[str, int]:
        """Write the run's rows to a zip at `path`; returns how many there are of each table.

        Raises SpecError for a run that is still going on.
        """
        tables: dict[str, list[Row]] = {}
        with self._cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for table, condition in TABLES.items():
                query = sql.SQL(
                    "SELECT to_jsonb(t) AS row FROM storebench.{} AS t WHERE " + condition
                ).format(sql.Identifier(table))
                rows = [found["row"] for found in cursor.execute(query, {"run": run_id})]
                if table == "run" and rows[0]["state"] == "running":
                    raise SpecError(f"The run {run_id} has not ended: export it when it has")
                tables[table] = sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
        bundle_file.write(path, run_id, tables)
        return {table: len(rows) for table, rows in tables.items()}

    def load(
        self, path: Path, content: bytes | None = None, *, more_attempts: bool = False
    ) -> tuple[str, dict[str, int]]:
        """Insert a bundle's rows that are not there yet. Return the run's id, and the number of new rows of each table.

        `content`: the file's bytes, where its signature was verified. `more_attempts`: a run that is there may get attempts that it lacks,
        which supersede older tries. Raises SpecError for a file that is no bundle, whose rows are not of its own run, that has another
        run of the same id, or that has such attempts.
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
    """Insert the rows of a checked bundle; return the number of new rows of each table. Raises SpecError where they do not fit."""
    there = cursor.execute(
        "SELECT to_jsonb(t) AS row FROM storebench.run AS t WHERE id = %s", (run["id"],)
    ).fetchone()
    if there and any(there["row"][name] != run.get(name) for name in ("started_at", "params")):
        raise SpecError(
            f"There is already another run {run['id']} here, started at {there['row']['started_at']}"
        )
    new = {table: _insert(cursor, table, rows) if (rows := tables.get(table)) else 0 for table in TABLES}
    if there and not more_attempts and (more := [f"{new[table]} {table}" for table in OF_RUN if new[table]]):
        raise SpecError(
            f"The run {run['id']} is here already, and the bundle has rows that it lacks ({', '.join(more)}). They would supersede"
            " or change attempts. If you trust the bundle, add --more-attempts"
        )
    if new["study"]:
        _make_views(cursor, run["study"])
    return new


def _insert(cursor: psycopg.Cursor[Row], table: str, rows: list[Row]) -> int:
    """Insert rows that are not there yet; returns how many. All have the same columns. Raises SpecError for one that the table has not.

    Of a study, the one that was recorded last stays.
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
        study_views.make(cursor, {**row["details"], "name": name})
    except (psycopg.Error, KeyError, TypeError) as error:
        raise SpecError(f"The bundle's study {name!r} cannot have views: {error}") from error
