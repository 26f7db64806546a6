"""Dates and timestamps of a Parquet file keep the range of their type, or are refused by name."""

import io

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from storebench.dataset import custom_tables
from tests import int96


def read(data):
    """Return the texts of each column by name, and the fields."""
    table = custom_tables.parquet(io.BytesIO(data))
    texts = {column.name: [] for column in table.columns}
    for chunk in table.chunks:
        for column, values in zip(table.columns, chunk, strict=True):
            column.update(values)
            texts[column.name] += values
    return texts, {column.name: column.field() for column in table.columns}


def written(**columns):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def test_int96_outside_the_years_of_64_bit_nanoseconds_stays_the_same():
    texts, fields = read(int96.as_parquet(valid_to=list(map(int96.moment, int96.END_OF_TIME))))
    assert texts["valid_to"] == int96.END_OF_TIME
    field = fields["valid_to"]
    assert (field.type, field.scale) == ("timestamp", None)
    assert (field.earliest, field.latest) == ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")


@pytest.mark.parametrize(
    ("texts", "scale"),
    [
        (["9999-12-31T23:59:59.999999Z", "1500-01-01T00:00:00.000000Z"], 6),
        (["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z"], 3),
        (["2024-05-06T07:08:09.123456789Z", "1700-01-01T00:00:00.000000001Z"], 9),
    ],
)
def test_int96_keeps_every_part_of_a_second(texts, scale):
    found, fields = read(int96.as_parquet(at=list(map(int96.moment, texts))))
    assert (found["at"], fields["at"].type, fields["at"].scale) == (texts, "timestamp", scale)


def test_each_int96_column_has_decimal_places_of_its_own(monkeypatch):
    monkeypatch.setattr(custom_tables, "CHUNK_ROWS", 2)
    whole, parted = (
        ["2024-05-06T07:08:09Z"] * 3,
        [
            "2024-05-06T07:08:09.000000000Z",
            "2024-05-06T07:08:09.000001000Z",
            "2024-05-06T07:08:09.000000001Z",
        ],
    )
    found, fields = read(
        int96.as_parquet(a=list(map(int96.moment, whole)), b=list(map(int96.moment, parted)))
    )
    assert (found["a"], found["b"]) == (whole, parted)
    assert (fields["a"].scale, fields["b"].scale) == (None, 9)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (
            {"a": ["2024-05-06T07:08:09.000000001Z"], "b": ["9999-12-31T00:00:00Z"]},
            "the column 'a' has INT96 timestamps with nanoseconds, and 'b' has INT96 timestamps outside the years 1678 to 2261",
        ),
        (
            {"a": ["9999-12-31T23:59:59.999999999Z"]},
            "the column 'a' has INT96 timestamps with nanoseconds, and 'a' has",
        ),
    ],
)
def test_int96_that_no_unit_holds_is_refused_by_name(columns, why):
    data = int96.as_parquet(**{name: list(map(int96.moment, texts)) for name, texts in columns.items()})
    with pytest.raises(custom_tables.Unusable, match=why):
        read(data)


@pytest.mark.parametrize("days", [2**27, -(2**27)])
def test_int96_that_microseconds_do_not_hold_is_refused_by_name(days):
    with pytest.raises(
        custom_tables.Unusable, match=r"the column 'a' has a timestamp before the year -290,307"
    ):
        read(int96.as_parquet(a=[days * int96.DAY_NS]))


def test_a_year_without_four_digits_is_text_of_that_year_and_the_text_is_told():
    last_day, after = 253_402_214_400, 253_402_300_800
    texts, fields = read(
        int96.as_parquet(a=[last_day * 10**9, after * 10**9], b=[0, -62_135_596_801 * 10**9])
    )
    assert texts["a"] == ["9999-12-31T00:00:00Z", "10000-01-01T00:00:00Z"]
    assert texts["b"] == ["1970-01-01T00:00:00Z", "0000-12-31T23:59:59Z"]
    assert (fields["a"].type, fields["a"].misfit) == ("string", "10000-01-01T00:00:00Z")
    assert (fields["b"].type, fields["b"].misfit) == ("string", "0000-12-31T23:59:59Z")


def test_the_ends_of_64_bit_microseconds_and_of_dates_are_no_other_year():
    """Arrow's texts for them would be such as 32103-01-10 and <value out of range>."""
    texts, _ = read(
        written(
            at=pa.array([2**63 - 1, None, 1 - 2**63], pa.timestamp("us")),
            on=pa.array([2**31 - 1, None, -719_163], pa.date32()),
        )
    )
    assert texts["at"] == ["294247-01-10T04:00:54.775807Z", "", "-290308-12-21T19:59:05.224193Z"]
    assert texts["on"] == ["5881580-07-11", "", "0000-12-31"]
    with pytest.raises(
        custom_tables.Unusable, match="the column 'at' has the timestamp -9223372036854775808"
    ):
        read(written(at=pa.array([-(2**63)], pa.timestamp("us"))))


@pytest.mark.parametrize(
    ("kind", "values", "texts", "scale"),
    [
        (pa.timestamp("s"), [-(10**9)], ["1938-04-24T22:13:20Z"], None),
        (pa.timestamp("ms"), [1, -1000], ["1970-01-01T00:00:00.001Z", "1969-12-31T23:59:59.000Z"], 3),
        (pa.timestamp("us"), [1000, -1000], ["1970-01-01T00:00:00.001Z", "1969-12-31T23:59:59.999Z"], 3),
        (pa.timestamp("us"), [1, None], ["1970-01-01T00:00:00.000001Z", ""], 6),
        (pa.timestamp("ns"), [10**9, -(10**9)], ["1970-01-01T00:00:01Z", "1969-12-31T23:59:59Z"], None),
        (pa.timestamp("ns"), [1], ["1970-01-01T00:00:00.000000001Z"], 9),
        (pa.timestamp("us", "Asia/Kolkata"), [0], ["1970-01-01T00:00:00Z"], None),
    ],
)
def test_a_timestamp_has_as_many_places_as_its_column_needs(kind, values, texts, scale):
    found, fields = read(written(at=pa.array(values, kind)))
    assert (found["at"], fields["at"].type, fields["at"].scale) == (texts, "timestamp", scale)
