"""DuckDB with its real engine, in a folder instead of a volume."""

import pytest

from storebench.dataset.schema import Field
from storebench.errors import StoreRefused
from storebench.stores.bulk_write_read import volume_table
from storebench.stores.bulk_write_read.duckdb import DuckDB
from tests import example_file
from tests.example_file import TYPES
from tests.given_back import read, source_of, written

SCHEMA = [Field(name, kind, "", True, scale, digits) for name, (kind, digits, scale) in TYPES.items()]
ROWS = list(map(example_file.texts, example_file.rows()))


@pytest.fixture
def make(monkeypatch, tmp_path):
    monkeypatch.setattr(volume_table, "FOLDER", str(tmp_path))

    def make(operation, client="reference", batch="700", schema=SCHEMA, rows=ROWS):
        return DuckDB(
            client=client,
            target="t",
            connection=None,
            source=source_of(monkeypatch, schema, rows),
            values={"batch": batch},
            operation=operation,
        )

    return make


@pytest.mark.parametrize("client", DuckDB.clients)
@pytest.mark.parametrize("batch", ["700", "all"])
def test_every_text_comes_back_in_another_process_than_the_writers(make, client, batch):
    store = make("write", client, batch)
    written(store, ROWS)
    assert [path.name for path in store.folder.iterdir()] == ["data.duckdb"], "no log is left for the reader"
    assert store.size_bytes() > 0
    read(make("read", client), ROWS)


def test_a_second_try_begins_with_an_empty_table(make):
    for _ in range(2):
        written(make("write"), ROWS)


@pytest.mark.parametrize("client", DuckDB.clients)
def test_a_changed_row_is_noticed(make, client):
    store = make("write", client)
    written(store, ROWS)
    with store._open() as database:
        database.execute("UPDATE data SET customer = 'x' WHERE order_no = 5")
    with pytest.raises(AssertionError):
        read(make("read", client), ROWS)


def test_a_lost_volume_is_named(make):
    with pytest.raises(StoreRefused, match="Was the volume lost"):
        make("read").connect()


def test_an_error_of_the_engine_is_a_refusal_of_one_line(make):
    store = make("write")
    store.prepare()
    with pytest.raises(StoreRefused, match=r"DuckDB refused: .*data") as caught:
        store.count()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("client", DuckDB.clients)
def test_names_need_no_plain_letters(make, client):
    schema = [Field('a "b".c', "string", ""), Field("select", "integer", "")]
    rows = [{'a "b".c': "x", "select": "1"}]
    written(make("write", client, "all", schema, rows), rows)
    read(make("read", client, "all", schema, rows), rows)


def test_names_that_differ_only_in_case_are_refused():
    found = DuckDB.cannot_hold_fields([Field("a", "string", ""), Field("A", "string", "")])
    assert "differ only in case" in found


def test_the_engine_says_its_settings(make):
    server = make("write").describe()
    assert server.name == "DuckDB" and server.settings["fsync_mode"]
