"""Compare the schema of the results database with the schema that this version of Storebench needs.

The number of a schema is the number of its last file in sql/. The database keeps its number as the comment of the schema `storebench`:
every role can read it, and `pg_dump --schema storebench` includes it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from storebench.errors import SchemaDiffers

SQL_FOLDER = Path(__file__).resolve().parents[4] / "sql"
PREFIX = "Storebench's results, schema "
COMMENT = (
    "SELECT obj_description(oid, 'pg_namespace') FROM pg_catalog.pg_namespace WHERE nspname = 'storebench'"
)


def number_of(file: Path | str) -> int:
    """Return the number of a migration by the name of its file, such as 4 for `0004-parts-ended.sql`."""
    return int(Path(file).name[:4])


@cache
def needed(folder: Path = SQL_FOLDER) -> int:
    """Return the number of the schema that the files of `folder` make. Raises FileNotFoundError for a folder without such files."""
    files = list(folder.glob("*.sql"))
    if not files:
        raise FileNotFoundError(f"No migrations in {folder}")
    return max(map(number_of, files))


def present(connection: psycopg.Connection[Any]) -> int | None:
    """Return the number of the database's schema: 0 for a schema from before the numbers, None without a schema."""
    row = connection.cursor(row_factory=tuple_row).execute(COMMENT).fetchone()
    if row is None:
        return None
    number = (row[0] or "").removeprefix(PREFIX)
    return int(number) if number.isdecimal() else 0


def record(connection: psycopg.Connection[Any], number: int) -> None:
    """Store the number of the database's schema."""
    connection.execute(sql.SQL("COMMENT ON SCHEMA storebench IS {}").format(sql.Literal(f"{PREFIX}{number}")))


def check_not_newer(connection: psycopg.Connection[Any]) -> int | None:
    """Return the number of the database's schema, as `present` does. Raises SchemaDiffers if this version is older than the database."""
    found = present(connection)
    if found is not None and found > needed():
        raise SchemaDiffers(
            f"The results database has schema {found}. It is newer than this version of Storebench, which knows schema {needed()}:"
            " install the version that updated the database, or a later one"
        )
    return found


def check(connection: psycopg.Connection[Any]) -> None:
    """Raise SchemaDiffers unless the database has the schema of this version. The message says what to do."""
    found = check_not_newer(connection)
    if found is None:
        raise SchemaDiffers("The results database has no tables of Storebench: run `storebench migrate`")
    if found < needed():
        raise SchemaDiffers(
            f"The results database has {f'schema {found}' if found else 'an older schema'}, and this version of Storebench needs schema"
            f" {needed()}: run `storebench migrate` between two runs"
        )
