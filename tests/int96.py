"""Parquet files with INT96 timestamps outside the range of nanoseconds in 64 bits, as Spark, Hive and Impala write them."""

import io
import struct
from datetime import date

EPOCH = 2_440_588  # the Julian day of 1970-01-01
DAY_NS = 86_400 * 10**9

# The texts of a file that ends at the end of time: what Spark writes for an open end, and .NET for no time.
END_OF_TIME = ["2024-05-06T07:08:09Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2262-04-12T00:00:00Z"]


def moment(text):
    """Nanoseconds since 1970 of `2024-05-06T07:08:09.123456789Z`."""
    day, clock = text.removesuffix("Z").split("T")
    seconds, _, part = clock.partition(".")
    hours, minutes, whole = map(int, seconds.split(":"))
    days = date.fromisoformat(day).toordinal() - date(1970, 1, 1).toordinal()
    return days * DAY_NS + (hours * 3600 + minutes * 60 + whole) * 10**9 + int(f"{part:0<9}")


def as_parquet(**columns):
    """Return a file with these columns of INT96, each a list of nanoseconds since 1970, beside a column `id`."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    rows = len(next(iter(columns.values())))
    # pyarrow writes INT96 of 64 bits only: so it writes values that are found again, and these are replaced
    written = {name: [10**9 * (rows * n + row) for row in range(rows)] for n, name in enumerate(columns)}
    table = pa.table(
        {
            "id": list(range(1, rows + 1)),
            **{name: pa.array(values, pa.timestamp("ns")) for name, values in written.items()},
        }
    )
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        use_deprecated_int96_timestamps=True,
        compression="NONE",
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    )
    data = out.getvalue()
    for name, values in columns.items():
        old, new = _int96(written[name]), _int96(values)
        assert data.count(old) == 1
        data = data.replace(old, new)
    return data


def _int96(values):
    return b"".join(struct.pack("<qi", value % DAY_NS, value // DAY_NS + EPOCH) for value in values)
