"""Delta Standalone: the original study's reader of Delta tables, discontinued with Delta Lake 3."""

from __future__ import annotations

from collections.abc import Sequence

from storebench.dataset.schema import Field
from storebench.stores.bulk_write_read.base import before
from storebench.stores.bulk_write_read.delta_reader import DeltaReader

INTEGER_DIGITS = 18  # Spark writes decimals of up to this many digits as integers
WHOLE_DIGITS = 20  # limit before the point: numbers get 18 decimal places, out of 38 digits
GREGORIAN = "1582-10-15"  # the first Gregorian day in java.sql.Date and java.sql.Timestamp


class DeltaStandalone(DeltaReader):
    """Delta Standalone. `reference`, the only client, is the study's loop: open the log's snapshot and iterate over its rows in one thread.
    Unlike the study's loop, it gets each value once.

    The library only reads timestamps as Spark writes them (INT96). It ignores the scale of a decimal that is written as an integer, and
    returns a wrong number. It returns dates and timestamps as java.sql.Date and java.sql.Timestamp, whose calendar differs before
    1582-10-15, so earlier moments differ.
    """

    name = "delta-standalone"
    delivers = ("rows in the JVM",)

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        short = (
            field.name
            for field in schema
            if field.type == "decimal" and field.precision and field.precision <= INTEGER_DIGITS
        )
        if name := next(short, None):
            return (
                f"the column {name!r} is a decimal of at most {INTEGER_DIGITS} digits, which Delta Standalone reads as another number where"
                " Spark has written it. Make it text, or leave this store out"
            )
        long = (field.name for field in schema if (field.precision or 0) - (field.scale or 0) > WHOLE_DIGITS)
        if name := next(long, None):
            return (
                f"the column {name!r} is a decimal with more than {WHOLE_DIGITS} digits before the point, which Delta Standalone has no room"
                " for. Make it text, or leave this store out"
            )
        if name := next((field.name for field in schema if before(field, GREGORIAN)), None):
            return (
                f"the column {name!r} has days before {GREGORIAN}, which Delta Standalone gives as those of the Julian calendar. Make it"
                " text, or leave this store out"
            )
        return super().cannot_hold_fields(schema)
