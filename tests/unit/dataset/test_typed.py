"""Typed columns of any store's types become the dataset's canonical text again."""

import io

import pyarrow as pa
import pytest

from storebench.dataset.checksum import TableChecksum
from storebench.dataset.generate import header
from storebench.dataset.schema import FIELDS, Field
from storebench.dataset.typed import ARROW_SCHEMA, arrow_schema, canonical, csv_reader


@pytest.fixture(scope="module")
def table(chunk):
    return pa.Table.from_batches(csv_reader(io.BytesIO(header() + chunk.csv)), ARROW_SCHEMA)


def differences(columns, manifest):
    checksum = TableChecksum()
    checksum.update(canonical(columns))
    return checksum.diff(manifest)


def by_name(table):
    return dict(zip(table.column_names, table.columns, strict=True))


def test_the_types_of_the_schema_keep_every_value(table, manifest):
    assert differences(by_name(table), manifest) == []


def test_so_do_the_types_that_spark_infers(table, manifest):
    inferred = {"decimal": pa.float64(), "integer": pa.int32(), "timestamp": pa.timestamp("us")}
    columns = by_name(table)
    for field in FIELDS:
        if field.type in inferred and field.name != "id":
            # by way of text: Arrow's own cast of a decimal is not to the nearest double
            columns[field.name] = (
                columns[field.name]
                .cast(pa.string() if field.type == "decimal" else inferred[field.type])
                .cast(inferred[field.type])
            )
    assert differences(columns, manifest) == []


def test_and_text(table, golden_rows, manifest):
    columns = {name: pa.array([row[name] for row in golden_rows]) for name in golden_rows[0]}
    assert differences(columns, manifest) == []


@pytest.mark.parametrize("name", ["unit_price", "latitude", "id", "is_active", "created_at", "comment"])
def test_a_changed_value_is_noticed(table, manifest, name):
    changed = {
        "unit_price": lambda v: float(v) + 1e-9,
        "latitude": lambda v: v + 1e-12,
        "id": lambda v: v + 1,
        "is_active": lambda v: not v,
        "created_at": lambda v: v.replace(second=(v.second + 1) % 60),
        "comment": lambda v: v + " ",
    }[name]
    columns = by_name(table)
    values = columns[name].to_pylist()
    if name == "unit_price":
        values = [float(value) for value in values]
    columns[name] = pa.chunked_array([pa.array([changed(values[0]), *values[1:]])])
    assert differences(columns, manifest) == [f"field {name}: checksum differs"]


@pytest.mark.parametrize(
    ("scale", "texts"),
    [
        (None, ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "1582-10-10T00:00:00Z"]),
        (3, ["9999-12-31T23:59:59.999Z", "1500-02-28T00:00:00.000Z"]),
        (6, ["9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000001Z"]),
    ],
)
def test_timestamps_keep_their_range_and_places_through_arrow(scale, texts):
    schema = [Field("at", "timestamp", "", scale=scale)]
    data = "\n".join(["at", *texts, ""]).encode()
    (batch,) = csv_reader(io.BytesIO(data), arrow_schema(schema))
    assert canonical({"at": batch.column("at")}, schema)["at"].to_pylist() == texts


def test_a_part_of_a_second_that_the_field_has_no_place_for_is_a_mismatch():
    with pytest.raises(ValueError, match="would lose data"):
        canonical({"at": pa.array([1_001], pa.timestamp("us"))}, [Field("at", "timestamp", "", scale=3)])


def test_a_type_that_cannot_be_the_fields_is_named(table):
    with pytest.raises(ValueError, match=r"field id: double cannot be integer"):
        canonical({"id": pa.array([1.0])})
    with pytest.raises(ValueError, match="unknown fields: more"):
        canonical({"more": pa.array(["x"])})
