"""The dates and timestamps of a Parquet file as canonical text: exact in the whole range of each type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from storebench.dataset.custom_csv import Unusable

if TYPE_CHECKING:
    import pyarrow as pa

I64 = npt.NDArray[np.int64]

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}  # of a unit
PLACES = {"s": 0, "ms": 3, "us": 6, "ns": 9}  # decimal places of a second that a unit holds
UNITS = {
    places: unit for unit, places in PLACES.items()
}  # of a timestamp, by the decimal places of its seconds
NUMPYS = {"s": "datetime64[s]", "ms": "datetime64[ms]", "us": "datetime64[us]", "ns": "datetime64[ns]"}
NO_TIME = np.iinfo(np.int64).min  # the number that NumPy takes for no time at all
FIRST, BEYOND = "0001-01-01", "10000-01-01"  # between are the years of four digits
INT96_UNITS = ("us", "ns", "s")


class Times:
    """Find the decimal places of each timestamp column of Parquet files by a pass over those columns, and the unit to read INT96 in.

    INT96 has nanoseconds and 2^32 days, more than 64 bits: a reader chooses a unit. Microseconds hold the years -290,307 to
    294,246, nanoseconds 1677 to 2262. Raises Unusable for years that microseconds do not hold, and for INT96 with both nanoseconds and
    years outside 1678 to 2261.
    """

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self._nanoseconds: set[str] = set()  # names of INT96 columns
        self._beyond: set[str] = set()

    def update(self, file: Any, batch_rows: int) -> None:
        """Update the decimal places of each column with a file."""
        from pyarrow import parquet as pq

        parquet_file = pq.ParquetFile(file, pre_buffer=False)
        int96 = {
            parquet_file.schema.column(n).path
            for n in range(len(parquet_file.schema))
            if parquet_file.schema.column(n).physical_type == "INT96"
        }
        names = [field.name for field in parquet_file.schema_arrow if _unit(field.type)]
        if others := [name for name in names if name not in int96]:
            for batch in parquet_file.iter_batches(batch_rows, columns=others):
                for name in others:  # the reader of a column "a" gives a column "a.b", too
                    column = batch.column(name)
                    self._raise_places(name, decimal_places_of(_numbers(column), _unit(column.type)))
        if of_int96 := [name for name in names if name in int96]:
            self._update_int96(file, batch_rows, of_int96)

    def _raise_places(self, name: str, places: int) -> None:
        self.places[name] = max(self.places.get(name, 0), places)

    def _update_int96(self, file: Any, batch_rows: int, names: Sequence[str]) -> None:
        """Read INT96 in three units. Each unit's number is right modulo 2^64, so their differences tell what each does not hold."""
        for name, us, ns, s in _in_units(file, batch_rows, names):
            if (us // 1_000_000 != s).any():
                raise Unusable(
                    f"the column {name!r} has a timestamp before the year -290,307 or after 294,246, which 64 bits of microseconds do not hold"
                )
            if (ns != us * 1_000).any():  # both modulo 2^64
                self._nanoseconds.add(name)
                self._raise_places(name, PLACES["ns"])
            if (abs(s) > (2**63 - 1) // 10**9 - 1).any():
                self._beyond.add(name)
            self._raise_places(name, decimal_places_of(us, "us"))

    def int96_unit(self) -> str:
        """Return the unit to read INT96 in, after all files were seen."""
        if self._nanoseconds and self._beyond:
            raise Unusable(
                f"the column {min(self._nanoseconds)!r} has INT96 timestamps with nanoseconds, and {min(self._beyond)!r} has INT96 timestamps"
                " outside the years 1678 to 2261: 64 bits do not hold both. Round the nanoseconds to microseconds, or make one column text"
            )
        return "ns" if self._nanoseconds else "us"


def _in_units(file: Any, batch_rows: int, names: Sequence[str]) -> Iterator[tuple[str, I64, I64, I64]]:
    """Yield the name and the numbers of each chunk of these columns, in each of INT96_UNITS."""
    from pyarrow import parquet as pq

    parts = (
        # without a buffer: readers of one file take turns, and none may read ahead on a thread
        pq.ParquetFile(file, coerce_int96_timestamp_unit=unit, pre_buffer=False).iter_batches(
            batch_rows, columns=list(names)
        )
        for unit in INT96_UNITS
    )
    for batches in zip(*parts, strict=True):
        for name in names:
            us, ns, s = (_numbers(batch.column(name)) for batch in batches)
            yield name, us, ns, s


def _unit(kind: pa.DataType) -> str:
    """Return the unit of a type of timestamps, "" of any other type."""
    import pyarrow.types as t

    value = kind.value_type if t.is_dictionary(kind) else kind
    return str(value.unit) if t.is_timestamp(value) else ""


def _numbers(column: pa.Array) -> I64:
    """Return the column's values that are not null, as its unit counts them."""
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_dictionary(column.type):
        column = column.dictionary_decode()
    numbers: I64 = column.cast(pa.int64()).drop_null().to_numpy(zero_copy_only=False)
    return numbers


def decimal_places_of(values: I64, unit: str) -> int:
    """Return how many decimal places of the second these values need: 0, 3, 6 or 9."""
    for places in (0, 3, 6):
        if places >= PLACES[unit]:
            break
        if not (values % (NANOSECONDS[UNITS[places]] // NANOSECONDS[unit])).any():
            return places
    return PLACES[unit]


def of_timestamps(name: str, column: pa.Array, places: int) -> pa.Array:
    """Return the texts of a timestamp column with so many decimal places of the second, which hold all its values.

    Raises Unusable for the one number that programs take for no time.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    utc = column.cast(pa.timestamp(column.type.unit, "UTC")).cast(pa.timestamp(UNITS[places], "UTC"))
    if NO_TIME in _numbers(column):
        raise Unusable(
            f"the column {name!r} has the timestamp {NO_TIME}, which many programs take for a missing value"
        )
    texts = _far(utc, NUMPYS[UNITS[places]], "Z")
    return pc.strftime(utc, format="%Y-%m-%dT%H:%M:%SZ") if texts is None else texts


def of_dates(column: pa.Array) -> pa.Array:
    """Return the texts of a date column."""
    import pyarrow as pa

    days = column.cast(pa.date32())
    texts = _far(days.cast(pa.int32()), "datetime64[D]", "")
    return days.cast(pa.string()) if texts is None else texts


def _far(column: pa.Array, kind: str, end: str) -> pa.Array | None:
    """Return the column's texts if one value has a year outside 0001 to 9999, else None. Arrow's own texts can be of another year there."""
    import pyarrow as pa

    values = _numbers(column)
    moments = values.astype(kind)
    if not len(values) or (moments.min() >= np.datetime64(FIRST) and moments.max() < np.datetime64(BEYOND)):
        return None
    texts = iter(np.datetime_as_string(moments).tolist())
    return pa.array([f"{next(texts)}{end}" if valid else None for valid in column.is_valid().to_pylist()])
