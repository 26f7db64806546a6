"""chDB's store without its engine, which only its image has: `tests/e2e/test_queries.py` has the engine."""

import pytest

from storebench.dataset.schema import FIELDS
from storebench.errors import StoreRefused
from storebench.stores.queries import files
from storebench.stores.queries.chdb import Chdb, _type


class Session:
    """Keeps the statements, and answers each one with the same lines."""

    def __init__(self, lines="", refuse=""):
        self.asked, self.lines, self.refuse = [], lines, refuse

    def query(self, statement, form):
        if self.refuse:
            raise RuntimeError(self.refuse)
        self.asked.append((statement, form))
        return self

    def data(self):
        return self.lines

    def close(self):
        pass


@pytest.fixture
def make(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "FOLDER", str(tmp_path))

    def make(session):
        store = Chdb(client="reference", target="t", connection=None, operation="load")
        store.rows = 3_000
        store.connect()
        monkeypatch.setattr(store, "_open", lambda: setattr(store, "_session", session))
        store.create()
        return store

    return make


def test_the_table_is_in_the_order_of_the_ids_and_its_parts_are_on_disk(make):
    session = Session()
    make(session)
    ((created, _),) = session.asked
    assert created.endswith(
        "ENGINE = MergeTree ORDER BY id SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1"
    )
    assert created.count("`") == 2 * len(FIELDS) and "`due_date` Nullable(Date32)" in created
    assert [_type(field) for field in FIELDS if field.name in ("id", "total_amount")] == [
        "Int64",
        "Decimal(10, 2)",
    ]


def test_an_answer_is_exact_and_comes_from_no_cache(make):
    session = Session("[1000000005, 999999.99]\n[1000000001, 999999.9]\n")
    store = make(session)
    assert store.ask("top") == [(1_000_000_005, 99_999_999), (1_000_000_001, 99_999_990)]
    statement, form = session.asked[-1]
    assert "use_query_cache = 0" in statement and form == "JSONCompactEachRow"
    assert "LIMIT 10" in statement and "{table}" not in statement


def test_an_error_of_the_engine_is_a_refusal_and_a_full_volume_is_named(make):
    store = make(Session())
    store._session = Session(refuse="Code: 60.\nUnknown table")
    with pytest.raises(StoreRefused, match=r"^chDB refused: Code: 60\. Unknown table"):
        store.ask("count")
    store._session = Session(refuse="Code: 243. No space left on device")
    with pytest.raises(StoreRefused, match=r"^The volume is full\."):
        store.ask("count")
