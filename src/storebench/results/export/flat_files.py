"""Write results in flat formats: rows as CSV or JSON, and answers of the database as CSV and Parquet files with the same columns."""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from storebench.errors import SpecError
from storebench.results.database.connection import Database, Row

BATCH_ROWS = 10_000

Rows = Sequence[Mapping[str, Any]]


def as_csv(rows: Rows) -> str:
    """Return all columns as CSV with a header. Objects and lists are JSON."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {
                name: json.dumps(value) if isinstance(value, dict | list) else value
                for name, value in row.items()
            }
            for row in rows
        )
    return out.getvalue()


def as_json(rows: Rows) -> str:
    """Return a JSON list of objects with all columns. Times are in ISO 8601."""

    def text_of(value: Any) -> str:
        return value.isoformat() if hasattr(value, "isoformat") else str(value)

    return json.dumps([dict(row) for row in rows], default=text_of, indent=2) + "\n"


class FlatFiles(Database):
    """The writer of files. It writes row by row, since an answer may be larger than the memory."""

    def write(self, query: sql.Composed, stem: Path) -> int:
        """Write the answer to `stem`.csv and `stem`.parquet. Return the number of rows.

        Objects and lists become JSON, times UTC, and numbers without an exact type become floats. Raises SpecError without pyarrow.
        """
        try:
            import pyarrow as pa
            from pyarrow import csv as arrow_csv
            from pyarrow import parquet
        except ImportError:
            raise SpecError("Parquet files need the Python package pyarrow, which is not installed") from None
        rows = 0
        with self._cursor() as cursor, cursor.connection.cursor("flat_files") as reader:
            reader.execute(query)
            schema = pa.schema(
                [(column.name, _type(pa, reader, column)) for column in reader.description or ()]
            )
            with (
                arrow_csv.CSVWriter(stem.with_suffix(".csv"), schema) as csv_file,
                parquet.ParquetWriter(stem.with_suffix(".parquet"), schema) as parquet_file,
            ):
                while batch_rows := reader.fetchmany(BATCH_ROWS):
                    batch = pa.RecordBatch.from_pylist([_plain(row) for row in batch_rows], schema)
                    csv_file.write(batch)
                    parquet_file.write(batch)
                    rows += len(batch_rows)
        return rows


def _type(pa: Any, cursor: psycopg.ServerCursor[Row], column: psycopg.Column) -> Any:
    """Return Arrow's type for a column."""
    type_info = cursor.adapters.types.get(column.type_code)
    types = {
        "bool": pa.bool_(),
        "int2": pa.int16(),
        "int4": pa.int32(),
        "int8": pa.int64(),
        "float4": pa.float32(),
        "float8": pa.float64(),
        "numeric": pa.float64(),
        "timestamptz": pa.timestamp("us", "UTC"),
    }
    return types.get(type_info.name if type_info else "", pa.string())


def _plain(row: Row) -> Row:
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    """Convert a value for its Arrow column."""
    if isinstance(value, dict | list):
        return json.dumps(value)
    if isinstance(value, Decimal):
        return float(value)
    return str(value) if isinstance(value, uuid.UUID) else value
