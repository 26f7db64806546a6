"""A run as one file: all its rows, with a checksum of each part, to keep or to load into another database.

The checksums show that a bundle arrived whole, not who made it: that is storebench.results.signature's.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from storebench.errors import SpecError
from storebench.results import bundle_upgrade, study_views
from storebench.results.database import Database, Row
from storebench.results.repository import Repository
from storebench.results.summary import refresh

FORMAT = 1
CHECKSUMS = "SHA256SUMS"
ABOUT = "bundle.json"
NEWEST_STUDY = (
    "(name) DO UPDATE SET operations = excluded.operations, details = excluded.details, recorded_at = excluded.recorded_at"
    " WHERE study.recorded_at < excluded.recorded_at"
)
# The earliest time that a zip can hold: the same run always makes the same file.
EPOCH = (1980, 1, 1, 0, 0, 0)

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


class Bundles(Database):
    """Writes and loads bundles."""

    def export(self, run_id: str, path: Path) -> dict[str, int]:
        """Write the run's rows to a zip at `path`; returns how many there are of each table.

        Raises SpecError for a run that is still going on.
        """
        members: dict[str, bytes] = {}
        counts: dict[str, int] = {}
        with self._cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for table, condition in TABLES.items():
                query = sql.SQL(
                    "SELECT to_jsonb(t) AS row FROM storebench.{} AS t WHERE " + condition
                ).format(sql.Identifier(table))
                rows = [found["row"] for found in cursor.execute(query, {"run": run_id})]
                if table == "run" and rows[0]["state"] == "running":
                    raise SpecError(f"The run {run_id} has not ended: export it when it has")
                rows.sort(key=lambda row: json.dumps(row, sort_keys=True))
                counts[table] = len(rows)
                members[f"{table}.json"] = _dump(rows)
        members[ABOUT] = _dump({"format": FORMAT, "run": run_id, "rows": counts})
        members[CHECKSUMS] = _checksums(members)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
        return counts

    def load(self, path: Path) -> tuple[str, dict[str, int]]:
        """Insert a bundle's rows that are not there yet; returns the run's id, and how many of each table were new.

        Raises SpecError for a file that is no bundle, one whose checksums are wrong, or another run of the same id.
        """
        tables = _read(path)
        (run,) = tables["run"]
        new: dict[str, int] = {}
        with self._cursor() as cursor:
            there = cursor.execute(
                "SELECT to_jsonb(t) AS row FROM storebench.run AS t WHERE id = %s", (run["id"],)
            ).fetchone()
            if there and (there["row"]["started_at"], there["row"]["params"]) != (
                run["started_at"],
                run["params"],
            ):
                raise SpecError(
                    f"There is already another run {run['id']} here, started at {there['row']['started_at']}"
                )
            for table in TABLES:
                # An older bundle lacks newer tables and columns: these get their defaults
                rows = tables.get(table, [])
                new[table] = _insert(cursor, table, rows) if rows else 0
            if new["study"] or _without_its_study(cursor, run["study"]):
                _make_views(cursor, run["study"])
        cells = [cell["key"] for cell in tables["cell"]]
        refresh(Repository(self._dsn), cells)
        return str(run["id"]), new


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
    return cursor.rowcount


def _without_its_study(cursor: psycopg.Cursor[Row], name: str) -> bool:
    """Whether the run came without its study, as older bundles do, and this database had not got it: it is of the kind that there was then."""
    cursor.execute(
        "INSERT INTO storebench.study (name, operations, details, recorded_at)"
        " SELECT %(name)s, operations, details || jsonb_build_object('name', %(name)s::text), 'epoch' FROM storebench.study"
        " WHERE name = 'bulk_write_read' ON CONFLICT DO NOTHING",
        {"name": name},
    )
    return cursor.rowcount > 0


def _make_views(cursor: psycopg.Cursor[Row], name: str) -> None:
    row = cursor.execute("SELECT details FROM storebench.study WHERE name = %s", (name,)).fetchone()
    assert row is not None
    try:
        study_views.make(cursor, {**row["details"], "name": name})
    except (psycopg.Error, KeyError, TypeError) as error:
        raise SpecError(f"The bundle's study {name!r} cannot have views: {error}") from error


def _read(path: Path) -> dict[str, list[Row]]:
    """The rows of each table, as this version has them."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile) as error:
        raise SpecError(f"{path} cannot be read as a bundle: {error}") from error
    checksums = members.pop(CHECKSUMS, None)
    if checksums is None or ABOUT not in members:
        raise SpecError(f"{path} is not a bundle: `storebench export` makes them")
    if checksums != _checksums(members):
        raise SpecError(f"{path} is not what was exported: its checksums are wrong")
    found = json.loads(members[ABOUT])["format"]
    if found != FORMAT:
        raise SpecError(f"{path} has format {found}; this version reads format {FORMAT}")
    tables = {
        name.removesuffix(".json"): json.loads(content) for name, content in members.items() if name != ABOUT
    }
    return bundle_upgrade.upgraded(tables)


def _checksums(members: dict[str, bytes]) -> bytes:
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(members.items())]
    return "".join(lines).encode()


def _dump(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
