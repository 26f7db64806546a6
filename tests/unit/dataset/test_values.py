"""Python values of any store's types become the dataset's canonical text again."""

import time
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from storebench.dataset.checksum import TableChecksum
from storebench.dataset.schema import FIELDS, Field
from storebench.dataset.values import canonical


def local_time(text):
    """Return a timestamp as Spark gives it: in the process's zone, without naming the zone."""
    return datetime.fromisoformat(text).astimezone().replace(tzinfo=None)


def as_inferred(rows):
    """Return rows with the types that Spark infers from the CSV: doubles for decimals."""
    types = {
        "integer": int,
        "float": float,
        "decimal": float,
        "boolean": lambda text: text == "true",
        "date": date.fromisoformat,
        "timestamp": local_time,
        "string": str,
    }
    return {
        field.name: [types[field.type](row[field.name]) if row[field.name] else None for row in rows]
        for field in FIELDS
    }


def as_typed(rows):
    """Return rows with the schema's types, and with zones."""
    columns = as_inferred(rows)
    for field in FIELDS:
        if field.type == "decimal":
            columns[field.name] = [Decimal(row[field.name]) for row in rows]
        elif field.type == "timestamp":
            columns[field.name] = [datetime.fromisoformat(row[field.name]) for row in rows]
    return columns


def as_text(rows):
    return {field.name: [row[field.name] for row in rows] for field in FIELDS}


def differences(columns, manifest):
    checksum = TableChecksum()
    checksum.update(canonical(columns))
    return checksum.diff(manifest)


@pytest.mark.parametrize("types", [as_inferred, as_typed, as_text])
def test_every_value_is_kept(golden_rows, manifest, types):
    assert differences(types(golden_rows), manifest) == []


def test_a_time_without_a_zone_is_the_processs_own(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        found = canonical({"created_at": [datetime(2024, 5, 6, 7, 8, 9), datetime(2024, 5, 6, tzinfo=UTC)]})
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found == {"created_at": ["2024-05-06T01:38:09Z", "2024-05-06T00:00:00Z"]}


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (None, "9999-12-31T23:59:59Z"),
        (3, "0001-01-02T00:00:00.500Z"),
        (3, "1582-10-10T00:00:00.000Z"),
        (6, "1500-01-01T00:00:00.000001Z"),
    ],
)
def test_a_timestamp_has_the_places_of_its_field(scale, text):
    schema = [Field("at", "timestamp", "", scale=scale)]
    assert canonical({"at": [datetime.fromisoformat(text)]}, schema) == {"at": [text]}


def test_a_part_of_a_second_that_the_field_has_no_place_for_is_not_cut():
    schema = [Field("at", "timestamp", "", scale=3)]
    value = datetime(2024, 5, 6, 7, 8, 9, 123_400, tzinfo=UTC)
    assert canonical({"at": [value]}, schema) == {"at": ["2024-05-06T07:08:09.123400Z"]}


WRONG = {
    "unit_price": lambda value: value + 1e-9,
    "latitude": lambda value: value + 1e-12,
    "id": lambda value: value + 1,
    "is_active": lambda value: not value,
    "created_at": lambda value: value.replace(microsecond=1),
    "order_date": lambda value: value.replace(day=value.day % 28 + 1),
    "comment": lambda value: value + " ",
    "status": lambda value: None,
}


@pytest.mark.parametrize("name", WRONG)
def test_a_changed_value_is_noticed(golden_rows, manifest, name):
    columns = as_inferred(golden_rows)
    columns[name][0] = WRONG[name](columns[name][0])
    assert differences(columns, manifest) == [f"field {name}: checksum differs"]


def test_a_decimal_with_more_places_is_not_rounded():
    assert canonical({"unit_price": [Decimal("1.5"), Decimal("1.005"), 1.5, 1.005]}) == {
        "unit_price": ["1.50", "1.005", "1.50", "1.005"]
    }


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("id", 1.0, "field id: float cannot be integer"),
        ("priority", True, "field priority: bool cannot be integer"),
        ("order_date", datetime(2024, 5, 6), "field order_date: datetime cannot be date"),
        ("comment", 5, "field comment: int cannot be string"),
        ("more", "x", "unknown fields: more"),
    ],
)
def test_a_type_that_cannot_be_the_fields_is_named(name, value, words):
    with pytest.raises(ValueError, match=words):
        canonical({name: ["x", None, value]})
