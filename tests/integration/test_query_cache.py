"""Sums by a real MariaDB whose query cache is on, as a user's server may have it."""

import os
import shutil
import subprocess

import pymysql
import pytest

from storebench.connection import Connection
from storebench.errors import VerificationFailed
from storebench.stores.column_scan import mariadb
from storebench.stores.column_scan.table import TABLE
from tests.integration.watched import listens
from tests.ports import free_port
from tests.unit.stores.column_scan.conftest import ROWS, attempt, bucket, made, prefix, study

__all__ = ["attempt", "bucket", "made", "prefix", "study"]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """Start a server with its query cache on."""
    program = os.environ.get("STOREBENCH_MARIADBD") or shutil.which(
        "mariadbd", path="/usr/sbin:/usr/local/sbin"
    )
    if not program:
        pytest.fail("there is no mariadbd: run these tests with `make integration`")
    folder, port = tmp_path_factory.mktemp("mariadb"), free_port()
    options = (
        *("--no-defaults", "--user=root", "--skip-grant-tables", "--skip-name-resolve", "--local-infile=1"),
        *(
            f"--datadir={folder}",
            f"--socket={folder / 'socket'}",
            "--bind-address=127.0.0.1",
            f"--port={port}",
        ),
        *("--query-cache-type=1", "--query-cache-size=16M"),
    )
    with (folder / "log").open("w") as log, subprocess.Popen([program, *options], stderr=log) as server:
        if not listens(server, port):
            server.kill()
            pytest.fail((folder / "log").read_text())
        yield port
        server.terminate()


@pytest.fixture
def sums(attempt, port, monkeypatch):
    """Write the table with a client, and return a function that adds up its column."""
    connection = Connection.from_json(
        "mariadb", f'{{"conn_type": "mysql", "host": "127.0.0.1", "port": {port}}}'
    )
    monkeypatch.setattr(Connection, "from_environment", classmethod(lambda cls, name: connection))

    def sums(client):
        assert attempt("mariadb", "write", client).status == "verified"
        return lambda: attempt("mariadb", "hot_sum", client)

    return sums


def cache_hits(port):
    with pymysql.connect(host="127.0.0.1", port=port, user="root").cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Qcache_hits'")
        return int(cursor.fetchall()[0][1])


@pytest.mark.parametrize("client", ["reference", "tuned"])
def test_a_hot_sum_reads_the_table_though_the_query_cache_is_on(sums, port, client):
    add_up = sums(client)
    before = cache_hits(port)
    result = add_up()
    assert result.environment["server_settings"]["query_cache_type"] == "ON"
    assert f"{ROWS:,} rows read by the server for it" in result.verification
    assert cache_hits(port) == before


def test_a_sum_that_the_query_cache_answers_is_not_verified(sums, port, monkeypatch):
    """The sum is repeated without SQL_NO_CACHE."""
    add_up = sums("reference")

    def scan(store):
        ((found,),) = store._ask(f"SELECT SUM({store.column}) FROM {TABLE}")
        return float(found)

    monkeypatch.setattr(mariadb.Mariadb, "scan", scan)
    before = cache_hits(port)
    with pytest.raises(
        VerificationFailed, match=r"has read 0 rows for the sum.*its query cache has answered"
    ):
        add_up()
    assert cache_hits(port) > before
