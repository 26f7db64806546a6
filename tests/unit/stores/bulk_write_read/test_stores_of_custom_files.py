"""A user's file at the stores: refused fields, and the handling of all other fields."""

import pytest
from deltalake import convert_to_deltalake

from storebench.attempt.clock import OperationClock
from storebench.connection import Connection
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.schema import FIELDS, Field
from storebench.stores.bulk_write_read.delta_rs import DeltaRs
from storebench.stores.bulk_write_read.elasticsearch_index import index_of
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.bulk_write_read.spark_table import CSV_OPTIONS, csv_options, spark_schema
from tests import example_file, int96
from tests.bulk import bulk_study
from tests.example_file import TYPES
from tests.given_back import same, source_of

DELTA = {"delta-rs", "delta-spark", "delta-standalone", "delta-kernel"}
JAVA = {"delta-standalone", "delta-kernel"}
# Stores with a client that reads the source as typed Arrow tables, which have microseconds
TYPED = {"parquet", "duckdb", "postgresql", "pyiceberg", "chdb", "iceberg-spark"}
OWN = [
    Field(name, kind, "", scale=scale, precision=precision)
    for name, (kind, precision, scale) in TYPES.items()
]


def manifest(*columns):
    return {"schema": [{"name": name, "type": kind} for name, kind in columns]}


def refusing(found):
    study = bulk_study()
    return {name for name in study.stores if study.store(name).cannot_hold(found)}


@pytest.mark.parametrize("name", ["a.b", "$a", "_id"])
def test_a_name_that_a_store_of_documents_cannot_hold_is_to_be_renamed(name):
    for store in ("mongodb", "elasticsearch"):
        if reason := bulk_study().store(store).cannot_hold(manifest((name, "string"))):
            assert reason.endswith("rename that column")
    assert "mongodb" in refusing(manifest((name, "string")))


def test_every_store_holds_the_generated_dataset_and_a_file_of_all_types():
    assert (
        refusing(manifest(*((field.name, field.type) for field in FIELDS if field.type != "float"))) == set()
    )
    assert refusing(manifest(*((field.name, field.type) for field in OWN))) == set()


@pytest.mark.parametrize(
    ("precision", "scale", "refused"),
    [
        (5, 2, True),
        (18, 2, True),
        (19, 2, False),
        (20, 0, False),
        (26, 6, False),
        (21, 0, True),
        (38, 6, True),
    ],
)
def test_delta_standalone_does_not_get_decimals_that_it_cannot_read(precision, scale, refused):
    """Delta Standalone cannot read decimals that Spark writes as integers, or with more than 20 digits before the point."""
    column = {"name": "tax", "type": "decimal", "precision": precision, "scale": scale}
    assert refusing({"schema": [column]}) == ({"delta-standalone"} if refused else set())


def dated(kind, earliest, latest, scale=None):
    more = {} if scale is None else {"scale": scale}
    return {
        "schema": [
            {"name": "id", "type": "integer"},
            {"name": "valid_to", "type": kind, "earliest": earliest, "latest": latest, **more},
        ]
    }


TIMES = {
    "the end of time": (dated("timestamp", "2024-05-06T07:08:09Z", "9999-12-31T23:59:59Z"), {"chdb"}),
    "an open end": (dated("date", "2024-05-06", "9999-12-31"), {"chdb"}),
    "the last day of ClickHouse": (dated("date", "1900-01-01", "2299-12-31"), set()),
    "the first Gregorian day": (dated("date", "1582-10-15", "2024-05-06"), {"chdb"}),
    "the day before": (dated("date", "1582-10-14", "2024-05-06"), {"delta-standalone", "chdb"}),
    "the Middle Ages": (
        dated("timestamp", "1500-01-01T00:00:00Z", "2024-05-06T07:08:09Z"),
        {"delta-standalone", "chdb"},
    ),
    "milliseconds": (dated("timestamp", "2024-05-06T07:08:09.123Z", "2024-05-06T07:08:09.124Z", 3), set()),
    "microseconds": (
        dated("timestamp", "2024-05-06T07:08:09.123456Z", "2024-05-06T07:08:09.123457Z", 6),
        {"elasticsearch"},
    ),
    "nanoseconds": (
        dated("timestamp", "2024-05-06T07:08:09.123456789Z", "2024-05-06T07:08:09.123456789Z", 9),
        DELTA | TYPED | {"elasticsearch"},
    ),
}


@pytest.mark.parametrize("case", TIMES)
def test_a_store_that_does_not_keep_a_date_or_a_part_of_a_second_says_so_by_name(case):
    found, stores = TIMES[case]
    assert refusing(found) == stores
    for name in stores:
        assert bulk_study().store(name).cannot_hold(found).startswith("the column 'valid_to' has ")


@pytest.mark.parametrize(
    ("kind", "earliest", "refused"),
    [
        ("timestamp", "0001-01-01T23:59:59Z", True),
        ("timestamp", "0001-01-02T00:00:00Z", False),
        ("date", "0001-01-01", False),
    ],
)
def test_only_sparks_rows_in_python_have_no_first_day_of_year_1(kind, earliest, refused):
    found = dated(kind, earliest, "9999-12-31")
    study = bulk_study()
    reasons = {
        (name, client): study.store(name).cannot_give_back(found, client)
        for name in study.stores
        for client in study.store(name).clients
    }
    given = {key: reason for key, reason in reasons.items() if reason}
    assert set(given) == (
        {("delta-spark", "reference"), ("iceberg-spark", "reference")} if refused else set()
    )
    assert all(reason.startswith("the column 'valid_to' has timestamps before") for reason in given.values())


@pytest.mark.parametrize(
    ("columns", "stores"),
    [
        ([("unit price", "string")], DELTA),
        ([("price.net", "string")], DELTA | {"mongodb", "elasticsearch", "iceberg-spark"}),
        ([("$price", "string")], DELTA | {"mongodb"}),
        ([("_id", "string")], {"mongodb", "elasticsearch"}),
        ([("_source", "string")], {"elasticsearch"}),
        ([("a", "string"), ("A", "string")], DELTA | {"duckdb", "iceberg-spark"}),
        ([("ratio", "float")], JAVA),
        ([(f"c{n}", "string") for n in range(500)], set()),
        ([(f"c{n}", "string") for n in range(501)], {"elasticsearch"}),
    ],
)
def test_a_store_says_what_it_cannot_hold(columns, stores):
    assert refusing(manifest(*columns)) == stores


@pytest.mark.parametrize("store", sorted(JAVA))
def test_the_reason_names_the_column_and_what_to_do(store):
    reason = bulk_study().store(store).cannot_hold(manifest(("id", "integer"), ("ratio", "float")))
    assert reason.startswith("the column 'ratio' is a float") and reason.endswith(
        "Make it a decimal, or text"
    )


def test_spark_is_told_the_types_and_infers_none():
    assert spark_schema(OWN).startswith(
        "`order_no` bigint, `ordered_on` date, `shipped_at` timestamp, `paid` boolean"
    )
    assert "`amount` decimal(19, 2), `tax` decimal(5, 4), `code` string" in spark_schema(OWN)


@pytest.mark.parametrize(("columns", "room"), [(20_480, None), (20_481, 20_481), (30_000, 30_000)])
def test_spark_has_room_for_every_column_of_the_csv(columns, room):
    """Spark's reader takes 20,480 columns by default, and fails with ArrayIndexOutOfBoundsException at the next."""
    options = csv_options([Field(f"c{n}", "string", "") for n in range(columns)])
    assert options.get("maxColumns") == room
    assert csv_options(FIELDS) == CSV_OPTIONS


def test_elasticsearch_takes_for_dates_what_the_schema_has_as_dates():
    mappings, _ = index_of("reference", OWN)
    assert mappings["date_detection"] is False
    assert mappings["properties"].keys() == {"ordered_on", "shipped_at"}


def test_texts_that_are_longer_than_a_term_are_no_keywords():
    schema = [Field("short", "string", "", longest=8_191), Field("long", "string", "", longest=8_192)]
    properties = index_of("tuned", schema)[0]["properties"]
    assert properties == {"short": {"type": "keyword"}, "long": {"type": "text"}}


class Folder(DeltaRs):
    """A store whose table is in a folder instead of S3."""

    folder, storage_options = "", {}

    def uri(self, scheme="s3"):
        return self.folder

    def check_table(self):
        pass


def test_verification_sees_the_dates_that_spark_writes_as_int96(tmp_path):
    """delta-rs itself reads them as 1816-03-30 and other dates, without an error."""
    (tmp_path / "a.parquet").write_bytes(
        int96.as_parquet(valid_to=list(map(int96.moment, int96.END_OF_TIME)))
    )
    convert_to_deltalake(str(tmp_path))
    source = Source(None, "bucket", "key")
    source.schema = [Field("id", "integer", ""), Field("valid_to", "timestamp", "")]
    store = Folder(client="reference", target="t", connection=Connection("s3"), source=source)
    store.folder = str(tmp_path)
    expected = TableChecksum(source.fields)
    expected.update({"id": list("1234"), "valid_to": int96.END_OF_TIME})
    assert store.count() == 4
    assert vars(store.checksum()) == vars(expected)


@pytest.mark.parametrize("operation", ["write", "read"])
@pytest.mark.parametrize("batch", ["700", "all"])
@pytest.mark.parametrize("client", DeltaRs.clients)
def test_delta_rs_gives_back_every_text(monkeypatch, tmp_path, client, batch, operation):
    rows = list(map(example_file.texts, example_file.rows()))
    schema = [Field(one.name, one.type, "", True, one.scale, one.precision) for one in OWN]
    given_back(monkeypatch, tmp_path, schema, rows, client=client, batch=batch, operation=operation)


@pytest.mark.parametrize("client", DeltaRs.clients)
@pytest.mark.parametrize(
    ("scale", "texts"),
    [
        (None, [*int96.END_OF_TIME, "1500-01-01T00:00:00Z", "1582-10-10T00:00:00Z"]),
        (3, ["0001-01-01T00:00:00.001Z", "9999-12-31T23:59:59.999Z"]),
        (6, ["0001-01-01T00:00:00.000001Z", "9999-12-31T23:59:59.999999Z"]),
    ],
)
def test_delta_rs_gives_back_dates_far_from_today(monkeypatch, tmp_path, client, scale, texts):
    schema = [Field("at", "timestamp", "", scale=scale), Field("on", "date", "")]
    rows = [{"at": text, "on": text[:10]} for text in texts]
    for operation in ("write", "read"):
        folder = tmp_path / operation
        given_back(monkeypatch, folder, schema, rows, client=client, batch="all", operation=operation)


def given_back(monkeypatch, folder, schema, rows, *, client, batch, operation):
    """Write these rows with delta-rs, read them, and compare their checksums."""
    store = Folder(
        client=client,
        target="t",
        connection=Connection("s3"),
        source=source_of(monkeypatch, schema, rows),
        values={"batch": batch},
    )
    store.folder, store.operation = str(folder), operation
    assert store.write(store.batch, OperationClock()) == len(rows)
    assert store.read(OperationClock()) == len(rows)
    same(store, rows)
