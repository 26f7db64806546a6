"""Delta Standalone: the original study's reader of Delta tables, which has ended with Delta Lake 3."""

from __future__ import annotations

from collections.abc import Sequence

from storebench.dataset.schema import Field
from storebench.stores.bulk_write_read.delta_reader import DeltaReader

INTEGER_DIGITS = 18  # Spark writes decimals of at most so many digits as integers


class DeltaStandalone(DeltaReader):
    """`reference` is the study's loop: open the log's snapshot and go over its rows, in one thread. Unlike the study's, the loop gets each
    value once. There is no other client.

    It reads timestamps as Spark writes them (INT96) and no others. Of a decimal that is written as an integer it takes no notice of the
    scale, and gives another number.
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
        return super().cannot_hold_fields(schema)
