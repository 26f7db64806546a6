"""The MariaDB store's handling of rows and client errors; the server itself is tested by a run (tests/e2e/test_column_scan.py)."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pymysql
import pytest

from storebench.attempt.clock import OperationClock
from storebench.connection import Connection
from storebench.errors import SpecError, StoreRefused, StoreUnreachable
from storebench.stores.caches import Servers
from storebench.stores.column_scan import dataset, mariadb, mariadb_rows
from storebench.stores.column_scan.table import BY_NAME, COLUMNS

ROWS = 4_001


@pytest.fixture(scope="module")
def columns():
    return {name: dataset.column_of(column, ROWS, 3) for name, column in BY_NAME.items()}


@pytest.fixture
def store(monkeypatch):
    """Return a store whose server answers with a function, and keeps the queries."""
    made = mariadb.Mariadb(
        client="tuned",
        target="t",
        connection=Connection("mariadb", "h"),
        operation="hot_sum",
    )
    made.rows, made.column, made._servers, made.asked = ROWS, "quantity", Servers(), []
    made.answer = lambda sql: [(1,)]

    @contextmanager
    def cursor(*_):
        yield SimpleNamespace(
            execute=lambda sql, values=None: made.asked.append(sql),
            fetchall=lambda: made.answer(made.asked[-1]),
        )

    made._session = SimpleNamespace(cursor=cursor, commit=lambda: None, close=lambda: None)
    return made


def test_the_table_is_the_study_s():
    assert mariadb.CREATE.startswith("CREATE TABLE stock (`uid` BIGINT(20) UNSIGNED NOT NULL, ")
    assert "`simulation_state` VARCHAR(255) COLLATE utf8_unicode_ci DEFAULT ''," in mariadb.CREATE
    assert mariadb.CREATE.endswith("ENGINE=InnoDB DEFAULT CHARSET=utf8 COLLATE=utf8_unicode_ci")


def test_rows_come_in_batches_with_null_where_nothing_is(columns):
    batches = list(mariadb_rows.batches(columns, 1_000))
    assert list(map(len, batches)) == [1_000] * 4 + [1]
    rows = [row for batch in batches for row in batch]
    assert [row[0] for row in rows] == list(range(1, ROWS + 1))
    for place, column in enumerate(COLUMNS):
        nothing = [row[place] is None for row in rows]
        assert (
            nothing
            == (np.asarray(columns[column.name] == np.zeros(1, column.dtype)) & column.nullable).tolist()
        )
    assert isinstance(rows[0][-1], str) or rows[0][-1] is None


def test_columns_of_rows_are_those_that_were_sent(columns):
    def selected(column, value):
        if value is None:
            return "" if column.is_text else 0
        return int(np.datetime64(value, "s").astype(int)) if column.dtype.startswith("<M8") else value

    parts = [
        [tuple(map(selected, COLUMNS, row)) for row in batch]
        for batch in mariadb_rows.batches(columns, 1_500)
    ]
    found = mariadb_rows.columns(list(columns), parts)
    for name, values in columns.items():
        assert found[name].dtype == values.dtype and (found[name] == values).all(), name


def test_a_file_has_what_load_data_reads(columns, tmp_path):
    path = tmp_path / "rows"
    mariadb_rows.write_file(path, {**columns, "portal_type": np.full(ROWS, b"a\\b\tc\nd", "S19")})
    lines = path.read_text().split("\n")
    assert len(lines) == ROWS + 1 and lines[-1] == ""
    rows = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines[:-1]]
    assert {row["portal_type"] for row in rows} == {r"a\\b\tc\nd"}
    assert [float(row["quantity"]) for row in rows] == columns["quantity"].tolist()
    assert rows[0]["date"] == str(columns["date"][0]).replace("T", " ")
    assert {row["node_uid"] for row in rows} >= {"\\N"}


def test_what_was_selected_is_not_read_of_the_index_that_the_sum_reads(store):
    store.answer = lambda sql: [(3,)]
    assert store.scan() == 3.0 and store.asked == ["SELECT SQL_NO_CACHE SUM(quantity) FROM stock"]
    assert mariadb_rows.selected("date") == "TIMESTAMPDIFF(SECOND, '1970-01-01', `date`)"
    assert mariadb_rows.selected("sub_variation_text") == "COALESCE(`sub_variation_text`, '')"


def test_a_cold_sum_without_agents_is_refused_before_it_connects():
    store = mariadb.Mariadb(client="reference", target="t", connection=None, operation="cold_sum")
    store.rows = ROWS
    with pytest.raises(SpecError, match="ask for mariadb@one"):
        store.connect()


def test_what_the_agents_say_is_what_a_cold_sum_has_read(store):
    agent = SimpleNamespace(figures=lambda: SimpleNamespace(read_bytes=5))
    store._servers = Servers([agent, agent])
    assert store.read_bytes() == 10
    store._servers, store.answer = Servers(), lambda sql: [("Innodb_data_read", "7")]
    assert store.read_bytes() == 7


def test_a_cold_sum_begins_with_a_server_that_was_started_again(store):
    """The session was closed before, and is a new one after it."""
    steps = []
    store._session.close = lambda: steps.append("closed")
    store._open = lambda: steps.append("opened")

    def make_cold(away, needed_bytes):
        with away:
            steps.append("cold")
        return needed_bytes

    store._servers = SimpleNamespace(make_cold=make_cold)
    assert store.make_cold() == ROWS * 19
    assert steps == ["closed", "cold", "opened"]


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (
            pymysql.err.OperationalError(2003, "refused"),
            StoreUnreachable,
            r"does not answer \(2003\): refused",
        ),
        (pymysql.err.OperationalError(1045, "denied"), StoreRefused, r"refused \(1045\): denied"),
        (pymysql.err.ProgrammingError(1054, "Unknown column"), StoreRefused, r"\(1054\): Unknown column"),
        (pymysql.err.InterfaceError(), StoreRefused, "MariaDB at h:3306 refused"),
    ],
)
def test_errors_have_our_kinds(store, error, kind, says):
    def answer(sql):
        raise error

    store.answer = answer
    with pytest.raises(kind, match=says):
        store.count()


@pytest.mark.parametrize(("value", "kind"), [("1", "disk"), ("2", "memory")])
def test_durability_is_as_the_server_states_it(store, value, kind):
    store.answer = lambda sql: [("innodb_flush_log_at_trx_commit", value)]
    found = store.durability()
    assert (found.kind, found.stated) == (kind, f"innodb_flush_log_at_trx_commit={value}")


def test_a_server_that_does_not_count_rows_is_refused(store):
    store.answer = lambda sql: []
    with pytest.raises(StoreRefused, match="no counter Rows_read"):
        store.timed_scan(OperationClock())
