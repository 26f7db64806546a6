"""Write answers of the results database as CSV and Parquet files with the same columns."""

from __future__ import annotations

import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from storebench.errors import SpecError
from storebench.results.database.connection import Database, Row

BATCH_ROWS = 10_000


class FlatFiles(Database):
    """The writer of files. It writes row by row, since an answer may be larger than the memory."""

    def write(self, query: sql.Composed, stem: Path) -> int:
        """Write the answer to `stem`.csv and `stem`.parquet. Return the number of rows.

        Objects and lists become JSON, times UTC, and numbers without an exact type become floats. Raises SpecError without pyarrow.
        """
        try:
            import pyarrow as pa
            from pyarrow import csv, parquet
        except ImportError:
            raise SpecError("Parquet files need the Python package pyarrow, which is not installed") from None
        rows = 0
        with self._cursor() as cursor, cursor.connection.cursor("flat_files") as reader:
            reader.execute(query)
            schema = pa.schema(
                [(column.name, _type(pa, reader, column)) for column in reader.description or ()]
            )
            with (
                csv.CSVWriter(stem.with_suffix(".csv"), schema) as as_csv,
                parquet.ParquetWriter(stem.with_suffix(".parquet"), schema) as as_parquet,
            ):
                while batch_rows := reader.fetchmany(BATCH_ROWS):
                    batch = pa.RecordBatch.from_pylist([_plain(row) for row in batch_rows], schema)
                    as_csv.write(batch)
                    as_parquet.write(batch)
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
