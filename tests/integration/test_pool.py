"""The pool of connections, and the ends of its connections."""

import psycopg
import pytest

from storebench.results import pool
from storebench.results.pool import Pool
from storebench.web.reading import Reading


def pid(connection):
    return connection.info.backend_pid


def test_one_piece_of_work_after_the_other_has_the_same_connection(database):
    shared = Pool(database)
    with shared.connection() as first:
        found = pid(first)
    with shared.connection() as again, shared.connection() as other:
        assert pid(again) == found
        assert pid(other) != found


def test_a_connection_that_the_server_has_ended_is_not_used_again(database):
    shared = Pool(database)
    with shared.connection() as first:
        found = pid(first)
    with psycopg.connect(database) as admin:
        # waits until it is gone, at most so many ms
        assert admin.execute("SELECT pg_terminate_backend(%s, 5000)", (found,)).fetchone() == (True,)
    with shared.connection() as again:
        assert again.execute("SELECT 1 AS one").fetchall() == [{"one": 1}]


def test_a_connection_in_which_something_failed_is_closed(database):
    shared = Pool(database)
    with pytest.raises(psycopg.errors.UndefinedTable), shared.connection() as first:
        first.execute("SELECT * FROM storebench.nothing")
    assert first.closed


def test_more_than_a_few_are_not_kept(database, monkeypatch):
    monkeypatch.setattr(pool, "MOST_IDLE", 1)
    shared = Pool(database)
    with shared.connection() as first, shared.connection() as second:
        pass
    assert [first.closed, second.closed] == [False, True]


def test_views_that_are_made_anew_disturb_no_reader(database):
    read = Reading(database, [])
    query = "SELECT * FROM storebench.shape"
    with psycopg.connect(database) as admin:
        admin.execute("CREATE VIEW storebench.shape AS SELECT 1 AS one")
    assert [read._all(query) for _ in range(8)] == [[{"one": 1}]] * 8
    with psycopg.connect(database) as admin:
        admin.execute("DROP VIEW storebench.shape")
        admin.execute("CREATE VIEW storebench.shape AS SELECT 'two' AS two")
    assert read._all(query) == [{"two": "two"}]
    with psycopg.connect(database) as admin:
        admin.execute("DROP VIEW storebench.shape")
