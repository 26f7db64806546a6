"""The pool of connections, and the ends of its connections."""

import multiprocessing
import subprocess
import sys
from contextlib import ExitStack

import psycopg
import pytest

from storebench.results.database import pool
from storebench.results.database.pool import lent
from storebench.web.reading import Reading


@pytest.fixture(autouse=True)
def _new_pool(database):
    """Begin each test with no pool."""
    while pool._POOLS:
        pool._POOLS.popitem()[1].close()


def pid(connection):
    return connection.info.backend_pid


def backend(database):
    """Return the process ID of the server's process behind a lent connection."""
    with lent(database) as connection:
        return connection.execute("SELECT pg_backend_pid() AS pid").fetchone()["pid"]


def test_one_piece_of_work_after_the_other_has_the_same_connection(database):
    with lent(database) as first:
        known = pid(first)
    with lent(database) as again, lent(database) as other:
        assert pid(again) == known
        assert pid(other) != known


def test_connections_that_the_server_has_ended_are_not_used_again(database):
    with ExitStack() as stack:
        ended = {pid(stack.enter_context(lent(database))) for _ in range(4)}
    with psycopg.connect(database) as admin:
        for process in ended:  # waits up to 5,000 ms for the end of the process
            assert admin.execute("SELECT pg_terminate_backend(%s, 5000)", (process,)).fetchone() == (True,)
    assert len(ended) == 4 and not ended & {backend(database) for _ in range(6)}


def test_a_transaction_in_which_a_statement_failed_does_not_reach_the_next_work(database):
    with pytest.raises(psycopg.errors.UndefinedTable), lent(database) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM storebench.nothing")
    with lent(database) as connection:
        assert connection.execute("SELECT 1 AS n").fetchall() == [{"n": 1}]


def test_more_connections_than_the_pool_holds_are_closed_afterwards(database):
    with ExitStack() as stack:
        connections = [stack.enter_context(lent(database)) for _ in range(pool.MOST + 1)]
        assert len({pid(connection) for connection in connections}) == pool.MOST + 1
    assert [connection.closed for connection in connections] == [False] * pool.MOST + [True]


def test_a_forked_process_has_connections_of_its_own_and_leaves_those_of_its_parent(database):
    known = backend(database)
    fork = multiprocessing.get_context("fork")
    told = fork.Queue()
    child = fork.Process(target=lambda: told.put(backend(database)))
    child.start()
    assert told.get(timeout=30) not in (known, None)
    child.join(30)
    assert child.exitcode == 0
    assert backend(database) == known


def test_a_process_with_a_pool_ends_at_once_and_without_a_word(database):
    program = (
        f"from storebench.results.database.pool import lent\nwith lent({database!r}): pass\nprint('read')"
    )
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20)
    assert (ended.stdout, ended.stderr) == ("read\n", "")


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
