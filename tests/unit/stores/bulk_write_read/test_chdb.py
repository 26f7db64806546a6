"""chDB's store without its engine, which only its image has: `tests/e2e/test_table_stores.py` has the engine."""

import pytest

from storebench.dataset.schema import Field
from storebench.errors import StoreRefused
from storebench.stores.bulk_write_read import volume_table
from storebench.stores.bulk_write_read.chdb import ChDB, _kind, _quoted
from tests.given_back import source_of

SCHEMA = [
    Field("a`b\\c", "string", ""),
    Field("amount", "decimal", "", scale=2, precision=19),
    Field("at", "timestamp", "", scale=6),
]


class Session:
    """Keeps the statements, and the Arrow table that `Python(part)` would find."""

    def __init__(self, refuse=""):
        self.asked, self.refuse = [], refuse

    def query(self, sql, form="CSV"):
        if self.refuse:
            raise RuntimeError(self.refuse)
        self.asked.append(sql)

    def close(self):
        self.asked.append("close")


@pytest.fixture
def make(monkeypatch, tmp_path):
    monkeypatch.setattr(volume_table, "FOLDER", str(tmp_path))

    def make(client, session):
        store = ChDB(
            client=client, target="t", connection=None, source=source_of(monkeypatch, SCHEMA, []), values={}
        )
        monkeypatch.setattr(store, "_opened", lambda: session)
        return store

    return make


@pytest.mark.parametrize(
    ("client", "kinds"),
    [
        ("reference", ["String", "String", "String"]),
        ("tuned", ["String", "Decimal(19, 2)", "DateTime64(6, 'UTC')"]),
    ],
)
def test_the_table_has_the_clients_types_and_acknowledges_what_is_on_disk(make, client, kinds):
    session = Session()
    make(client, session).prepare()
    (created,) = session.asked
    assert [f"Nullable({kind})" in created for kind in kinds] == [True] * 3
    assert created.endswith("SETTINGS fsync_after_insert = 1, fsync_part_directory = 1")
    assert "`a\\`b\\\\c`" in created


def test_an_error_of_the_engine_is_a_refusal_and_a_full_volume_is_named(make):
    with pytest.raises(StoreRefused, match="chDB refused: Code: 60"):
        make("tuned", Session("Code: 60.\nUnknown table")).count()
    with pytest.raises(StoreRefused, match="The volume is full"):
        make("tuned", Session("Code: 243. No space left on device")).count()


def test_every_type_of_a_dataset_has_a_column():
    assert _kind(Field("a", "decimal", "", scale=4)) == "Decimal(10, 4)"
    assert _quoted("plain") == "`plain`"
