"""Delta Standalone: the original study's reader of Delta tables, which has ended with Delta Lake 3."""

from __future__ import annotations

from collections.abc import Sequence

from storebench.dataset.schema import Field
from storebench.stores.bulk_write_read.base import before
from storebench.stores.bulk_write_read.delta_reader import DeltaReader

INTEGER_DIGITS = 18  # Spark writes decimals of at most so many digits as integers
WHOLE_DIGITS = 20  # before the point: it makes 18 decimal places of each number, and has room for 38 digits
GREGORIAN = "1582-10-15"  # the first day of that calendar in java.sql.Date and java.sql.Timestamp


class DeltaStandalone(DeltaReader):
    """`reference` is the study's loop: open the log's snapshot and go over its rows, in one thread. Unlike the study's, the loop gets each
    value once. There is no other client.

    It reads timestamps as Spark writes them (INT96) and no others. Of a decimal that is written as an integer it takes no notice of the
    scale, and gives another number. It gives dates and timestamps as java.sql.Date and java.sql.Timestamp, which have another calendar
    before 1582-10-15: the moments are others there.
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
        long = (one.name for one in schema if (one.precision or 0) - (one.scale or 0) > WHOLE_DIGITS)
        if name := next(long, None):
            return (
                f"the column {name!r} is a decimal with more than {WHOLE_DIGITS} digits before the point, which Delta Standalone has no room"
                " for. Make it text, or leave this store out"
            )
        if name := next((one.name for one in schema if before(one, GREGORIAN)), None):
            return (
                f"the column {name!r} has days before {GREGORIAN}, which Delta Standalone gives as those of the Julian calendar. Make it"
                " text, or leave this store out"
            )
        return super().cannot_hold_fields(schema)
