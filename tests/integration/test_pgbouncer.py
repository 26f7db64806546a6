"""The results database behind a real PgBouncer, which assigns a free server to each transaction."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from storebench.errors import StoreUnreachable
from storebench.results.database import pool
from storebench.results.database.connection import connected as connect
from storebench.results.database.queries import Queries
from storebench.results.database.repository import Repository, run_id_of
from storebench.results.export.bundle import Bundles
from storebench.web.reading import Reading
from tests.integration.recorded import STUDY
from tests.ports import free_port


@pytest.fixture
def pooled(database):
    """Yield the URI of the database behind a PgBouncer in transaction mode with two servers."""
    with bouncer(database, free_port()) as uri:
        yield uri


@contextmanager
def bouncer(database, port):
    """Run a PgBouncer at a port of this machine. Yield its URI of the database."""
    to = conninfo_to_dict(database)
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "`make integration` installs pgbouncer"
    settings = (
        f"[databases]\nresults = host={to['host']} port={to.get('port', 5432)} dbname={to['dbname']}"
        f" user={to['user']} password={to['password']}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\npool_mode = transaction\n"
        "default_pool_size = 2\nunix_socket_dir =\nlogfile =\n"
    )
    user = (
        pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()
    )  # PgBouncer refuses to run as root
    # Pytest's own folder may lie under /root, which the user nobody cannot enter.
    with tempfile.NamedTemporaryFile("w", dir="/tmp", suffix=".ini") as config:
        config.write(settings)
        config.flush()
        os.chown(config.name, user, -1)
        yield from connected(program, config.name, user, port)


def connected(program, config, user, port):
    """Yield the URI of a PgBouncer that runs as `user`, and end the PgBouncer afterwards."""
    with subprocess.Popen([program, "-q", config], user=user, stderr=subprocess.PIPE, text=True) as process:
        try:
            uri = make_conninfo(host="127.0.0.1", port=port, dbname="results", user="storebench")
            deadline = time.monotonic() + 20
            while True:
                try:
                    psycopg.connect(uri, connect_timeout=5).close()
                    break
                except psycopg.OperationalError:
                    assert process.poll() is None, process.stderr.read()
                    assert time.monotonic() < deadline
                    time.sleep(0.1)
            yield uri
        finally:
            process.terminate()


@pytest.fixture
def repository(pooled):
    return Repository(pooled)


def test_a_run_is_recorded_read_and_exported_behind_pgbouncer(pooled, run, cells, tmp_path):
    """Many rows in each statement: a prepared statement would be unknown to the next server."""
    name = run(cells)
    again = run(cells)
    rows = Queries(pooled).results(run=name)
    assert len(rows) == len(Queries(pooled).results(run=again)) == 20
    assert {row["status"] for row in rows} == {"verified"}
    assert Bundles(pooled).export(run_id_of(STUDY, name), tmp_path / "run.zip")["phase"] == 40
    assert set(Bundles(pooled).load(tmp_path / "run.zip")[1].values()) == {0}


def test_the_bounds_of_a_transaction_do_not_reach_the_next_client(pooled):
    with Repository(pooled)._cursor() as cursor:
        found = cursor.execute("SHOW lock_timeout").fetchone()
    assert found == {"lock_timeout": "1min"}
    with psycopg.connect(pooled) as connection:
        assert connection.execute("SHOW lock_timeout").fetchone() == ("0",)


def test_the_page_reads_behind_pgbouncer(pooled):
    """Two readers at once, so that the statements of each change between the servers: a prepared statement would be unknown."""
    read = Reading(pooled, [])
    with ThreadPoolExecutor(2) as readers:
        answers = readers.map(lambda number: read._all("SELECT %s::int AS n", (number,)), range(40))
    assert list(answers) == [[{"n": number}] for number in range(40)]


def test_the_page_reads_from_the_pool_again_when_the_database_is_back(database, monkeypatch):
    port, beside = free_port(), []
    monkeypatch.setattr(pool, "connected", lambda *args, **kw: beside.append(1) or connect(*args, **kw))

    def select():
        return Reading(uri, [])._all("SELECT 1 AS n")

    with bouncer(database, port) as uri:
        select()
    away_s = time.monotonic() + 4
    while (began_s := time.monotonic()) < away_s:
        with pytest.raises(StoreUnreachable, match=rf"127\.0\.0\.1:{port} cannot be used: .*refused"):
            select()
        assert time.monotonic() - began_s < pool.WAIT_S + 2
    beside.clear()
    with bouncer(database, port):
        for _ in range(3):
            began_s = time.monotonic()
            assert select() == [{"n": 1}]
            assert time.monotonic() - began_s < pool.WAIT_S + 2
    assert len(beside) < 3
