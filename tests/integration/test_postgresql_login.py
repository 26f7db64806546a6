"""The program that starts PostgreSQL in the image of the embedded stack: nobody comes in over the network without the password of its
first start.
"""

import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.integration.watched import HOME, listens
from tests.ports import free_port

PROGRAM = Path(__file__).parents[2] / "images" / "servers" / "postgresql" / "docker-entrypoint.sh"
ROOT = HOME / "postgres" / "root"  # the file tree of the stack's own PostgreSQL
OWNER = 64932  # its user


@pytest.fixture
def folder():
    """Yield a folder in that tree with the program, owned by the tree's user."""
    with tempfile.TemporaryDirectory(dir=ROOT / "tmp") as made:
        shutil.copy(PROGRAM, made)
        shutil.chown(made, OWNER, OWNER)
        yield Path(made)


def start(folder, port, **environment):
    inside = Path("/", folder.relative_to(ROOT))
    options = (f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={inside}")
    return subprocess.Popen(
        [
            *("chroot", f"--userspec={OWNER}:{OWNER}", ROOT, "sh", inside / PROGRAM.name, "postgres"),
            *(word for option in options for word in ("-c", option)),
        ],
        env={
            "PATH": "/usr/lib/postgresql/18/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "PGDATA": str(inside / "18" / "docker"),
            "POSTGRES_USER": "bench",
            **environment,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def running(folder, **environment):
    """Start a server. Yield its port."""
    port = free_port()
    with start(folder, port, **environment) as server:
        try:
            if not listens(server, port):
                server.kill()
                pytest.fail(f"PostgreSQL does not start: {server.stderr.read()}")
            while "is starting up" in refusal(port):  # the server listens a moment before it admits anyone
                time.sleep(0.05)
            yield port
        finally:
            server.send_signal(signal.SIGINT)


def refusal(port, password=""):
    """Return why the server refuses this password."""
    with pytest.raises(psycopg.OperationalError) as error:
        rows(port, password, "SELECT 1")
    return str(error.value)


def rows(port, password, statement):
    place = {"host": "127.0.0.1", "port": port, "dbname": "bench"}
    with psycopg.connect(user="bench", password=password, **place) as session:
        cursor = session.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_the_user_has_the_password_of_the_first_start_and_its_database(folder):
    with running(
        folder, POSTGRES_PASSWORD="a1b2", POSTGRES_INITDB_ARGS="--no-locale --encoding=UTF8"
    ) as port:
        rows(port, "a1b2", "CREATE EXTENSION pg_trgm")  # the client `tuned` of queries does so
        rows(port, "a1b2", "CREATE TABLE kept ()")
        for wrong in ("", "other"):
            assert "password" in refusal(port, wrong)
    with running(folder) as port:
        assert rows(port, "a1b2", "SELECT to_regclass('kept')::text, current_setting('server_encoding')") == [
            ("kept", "UTF8")
        ]
    assert {path.name for path in (folder / "18").iterdir()} == {"docker"}, "no file with the password"


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({}, "POSTGRES_PASSWORD has to be a password"),
        ({"POSTGRES_PASSWORD": "a1b2", "POSTGRES_DB": "a; DROP"}, "POSTGRES_DB has to be a name"),
    ],
)
def test_a_server_without_a_password_or_with_an_impossible_database_does_not_start(folder, environment, why):
    with start(folder, free_port(), **environment) as server:
        assert server.wait(10) == 1
        assert why in server.stderr.read()
