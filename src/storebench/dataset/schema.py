"""The 50 fields of the dataset. A change of any value of any row raises SCHEMA_VERSION."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SCHEMA_VERSION = 1

Type = Literal["integer", "decimal", "float", "boolean", "date", "timestamp", "string"]


@dataclass(frozen=True)
class Field:
    """One column. `type` says how a typed store's value becomes its canonical text, the text in the CSV:

    - `integer`: decimal digits, no leading zeros; fits 64 bits
    - `decimal`: exactly `scale` decimal places; at most 8 digits, so that a double holds it, too
    - `float`: what Python's `repr` gives for the double; never in scientific notation
    - `boolean`: `true` or `false`
    - `date`: `2024-05-06`
    - `timestamp`: UTC, `2024-05-06T07:08:09Z`, with exactly `scale` decimal places of the second: 0 (None), 3, 6 or 9
    - `string`: itself. Never empty, no space at an end, and never a text that reads as one of the types above, so that
      a store which infers types from the CSV (Spark, pandas) keeps it as text

    A null is the empty text. Dates and timestamps have years from 0001 to 9999. A decimal of a custom file has bounds of its own
    (storebench.dataset.columns).
    """

    name: str
    type: Type
    description: str
    nullable: bool = False
    scale: int | None = None
    precision: int | None = None  # of a decimal: its digits; None: at most 8
    longest: int | None = None  # the characters of its longest text; None: not known
    earliest: str | None = None  # the first and the last text of a date or timestamp; None: not known
    latest: str | None = None
    misfit: str | None = None  # a text for which a typed column of a Parquet file became a string


FIELDS = (
    Field("id", "integer", "unique: 1,000,000,000 plus the row's number from 0"),
    Field("event_key", "string", "K and 6 hexadecimal digits"),
    Field("created_at", "timestamp", "2015 to 2026"),
    Field("measured_at", "timestamp", "2015 to 2026"),
    Field("order_date", "date", "2015 to 2026"),
    Field("due_date", "date", "2015 to 2026", nullable=True),
    Field("loyalty_points", "integer", "0 to 99,999, about 2,300 values", nullable=True),
    Field("company", "string", "about 2,000 values, some with commas and quotes", nullable=True),
    Field("job_title", "string", "one of 45"),
    Field("tags", "string", "up to six of 16, separated by semicolons", nullable=True),
    Field("is_active", "boolean", ""),
    Field("is_verified", "boolean", "", nullable=True),
    Field("status", "string", "one of 6"),
    Field("priority", "integer", "1 to 5"),
    Field("channel", "string", "one of 5"),
    Field("payment_method", "string", "one of 6"),
    Field("gender", "string", "one of 3", nullable=True),
    Field("language", "string", "one of 8"),
    Field("segment", "string", "one of 5"),
    Field("unit_price", "decimal", "100.00 to 999.99", scale=2),
    Field("discount_rate", "decimal", "0.0000 to 0.9999", scale=4),
    Field("tax_rate", "decimal", "one of 5", scale=2),
    Field("currency", "string", "one of 8"),
    Field("total_amount", "decimal", "100,000.00 to 999,999.99", scale=2),
    Field("balance", "decimal", "-999.99 to 9,999.99, none between -100 and 1,000", scale=2),
    Field("first_name", "string", "one of 54, some not ASCII"),
    Field("city", "string", "one of 21, some not ASCII"),
    Field("region", "string", "goes with the city"),
    Field("country", "string", "two letters, goes with the city"),
    Field("user_agent", "string", "one of 8"),
    Field("os", "string", "one of 6"),
    Field("last_name", "string", "65,536 values, some not ASCII"),
    Field("email", "string", "160 million values, in example domains"),
    Field("phone", "string", "+country-area-number"),
    Field("birth_date", "date", "1940 to 2007"),
    Field("street", "string", "32,768 values, some not ASCII"),
    Field("postal_code", "string", "two letters and four digits"),
    Field("house_number", "integer", "1 to 1,024"),
    Field("quantity", "integer", "1 to 9,999, about 2,200 values"),
    Field("temperature_c", "float", "-40.0 to 60.0"),
    Field("humidity", "float", "0.001 to 1"),
    Field("latitude", "float", "-90 to 90, five to seven decimal places"),
    Field("longitude", "float", "-180 to 180, five to seven decimal places"),
    Field("score", "float", "0.001 to 1, six decimal places"),
    Field("device_id", "string", "about a million values"),
    Field("ip_address", "string", "IPv4"),
    Field("app_version", "string", "one of 200"),
    Field("duration_ms", "integer", "100,000 to 999,999"),
    Field("comment", "string", "free text with commas, quotes, line breaks and non-ASCII letters"),
    Field("description", "string", "free text as in `comment`"),
)

FIELD_NAMES = tuple(field.name for field in FIELDS)
