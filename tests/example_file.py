"""A user's file in tests: 12 columns with dates, decimals, nulls, quotes and line breaks."""

import csv
import io
import os
import uuid
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from storebench.connection import Connection
from storebench.s3 import client_for

ROWS = 2_500
NAMES = (
    "order_no",
    "ordered_on",
    "shipped_at",
    "paid",
    "amount",
    "tax",
    "code",
    "customer",
    "note",
    "first_seen",
    "Größe",
    "empty",
)
TYPES = {
    "order_no": ("integer", None, None),
    "ordered_on": ("date", None, None),
    "shipped_at": ("timestamp", None, None),
    "paid": ("boolean", None, None),
    "amount": ("decimal", 19, 2),
    "tax": ("decimal", 5, 4),
    "code": ("string", None, None),
    "customer": ("string", None, None),
    "note": ("string", None, None),
    "first_seen": ("string", None, None),
    "Größe": ("string", None, None),
    "empty": ("string", None, None),
}
NULLABLE = {"ordered_on", "shipped_at", "paid", "amount", "note", "empty"}


def rows(count=ROWS):
    """Python values, as a typed file has them; None where there is none."""
    for n in range(count):
        yield {
            "order_no": n - 1000,
            "ordered_on": None if n % 7 == 0 else date(1900, 1, 1) + timedelta(days=n * 37),
            "shipped_at": None
            if n % 5 == 0
            else datetime(1999, 12, 31, tzinfo=UTC) + timedelta(seconds=n * 4321),
            "paid": None if n % 11 == 0 else n % 2 == 0,
            "amount": None if n % 3 == 0 else Decimal(n * 10**15 + n) / 100 - 7,
            "tax": Decimal(n % 10_000) / 10_000,
            "code": f"{n:05d}",  # which a reader that infers types takes for a number
            "customer": f'O\'Hara & Söhne, "Haus {n}"',
            "note": None if n % 4 == 0 else f'line {n}\nnext, "quoted"\r\nlast \\ ',
            "first_seen": "2024-05-06" if n == 0 else "unknown",  # which looks like a date at first
            "Größe": " L " if n % 2 else "12 cm",
            "empty": None,
        }


def text(value):
    """Return the text of a value in the generated dataset's schema."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case _:
            return str(value)


def texts(row):
    places = {"amount": 2, "tax": 4}
    return {
        name: f"{value:.{places[name]}f}" if name in places and value is not None else text(value)
        for name, value in row.items()
    }


def as_csv(count=ROWS):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, NAMES, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(map(texts, rows(count)))
    return b"\xef\xbb\xbf" + out.getvalue().encode()


def as_parquet(count=ROWS):
    import pyarrow as pa
    from pyarrow import parquet as pq

    schema = pa.schema(
        {
            "order_no": pa.int32(),
            "ordered_on": pa.date32(),
            "shipped_at": pa.timestamp("us"),
            "paid": pa.bool_(),
            "amount": pa.decimal128(20, 2),
            "tax": pa.decimal128(5, 4),
            "code": pa.string(),
            "customer": pa.dictionary(pa.int32(), pa.string()),
            "note": pa.large_string(),
            "first_seen": pa.string(),
            "Größe": pa.string(),
            "empty": pa.null(),
        }
    )
    naive = [
        {**row, "shipped_at": at and at.replace(tzinfo=None)}
        for row in rows(count)
        for at in [row["shipped_at"]]
    ]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(naive, schema), out, row_group_size=1_000)
    return out.getvalue()


@contextmanager
def in_s3(bucket, data, kind):
    """Put a file into the running stack's S3 during the block. Yield its address."""
    client = client_for(Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"]))
    key = f"own-files-test/{uuid.uuid4().hex}.{kind}"
    client.put_object(Bucket=bucket, Key=key, Body=data)
    try:
        yield f"s3://{bucket}/{key}"
    finally:
        client.delete_object(Bucket=bucket, Key=key)
