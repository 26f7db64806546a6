"""The program that starts MariaDB in the image of the embedded stack: nobody comes in without the password that it is given."""

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pymysql
import pytest

from tests.integration.watched import listens
from tests.ports import free_port

PROGRAM = Path(__file__).parents[2] / "images" / "servers" / "mariadb" / "docker-entrypoint.sh"
NOBODY = 65534  # the server does not start as root
SEARCHED = "/usr/sbin:/usr/bin:/sbin:/bin"


@pytest.fixture
def folder():
    """Yield a folder with the program, owned by a user who is not root."""
    if not shutil.which("mariadbd", path=SEARCHED):
        pytest.fail("there is no mariadbd: run these tests with `make integration`")
    # Pytest's own folder may lie under /root, which another user cannot enter.
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        shutil.copy(PROGRAM, made)
        for path in (made, Path(made, PROGRAM.name)):
            os.chmod(path, 0o755)  # noqa: PTH101
            os.chown(path, NOBODY, NOBODY)
        yield Path(made)


def start(folder, port, password):
    options = (
        *(f"--datadir={folder / 'data'}", f"--socket={folder / 'socket'}", f"--pid-file={folder / 'pid'}"),
        *("--bind-address=127.0.0.1", f"--port={port}", "--skip-name-resolve"),
    )
    environment = {
        "PATH": SEARCHED,
        "TMPDIR": str(folder),
        **({"MARIADB_ROOT_PASSWORD": password} if password else {}),
    }
    return subprocess.Popen(
        [folder / PROGRAM.name, "mariadbd", *options],
        cwd=folder,
        env=environment,
        user=NOBODY,
        group=NOBODY,
        extra_groups=(),
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def running(folder, password):
    """Start a server with this password. Yield its port."""
    port = free_port()
    with start(folder, port, password) as server:
        try:
            if not listens(server, port):
                server.kill()
                pytest.fail(f"MariaDB does not start: {server.stderr.read()}")
            yield port
        finally:
            server.terminate()


def who(port, password, **more):
    place = more or {"host": "127.0.0.1", "port": port}
    with pymysql.connect(user="root", password=password, **place) as session, session.cursor() as cursor:
        cursor.execute("SELECT CURRENT_USER()")
        return cursor.fetchone()[0]


def test_root_has_the_password_of_the_start_and_nobody_comes_in_without_it(folder):
    for password in ("a1b2c3", "d4e5f6"):  # the second start finds the tables of the first
        with running(folder, password) as port:
            assert who(port, password) == "root@%"
            assert who(port, password, unix_socket=str(folder / "socket")) == "root@localhost"
            for wrong in ("", "other"):
                for place in ({}, {"unix_socket": str(folder / "socket")}):
                    with pytest.raises(pymysql.err.OperationalError) as error:
                        who(port, wrong, **place)
                    assert error.value.args[0] == 1045, "access denied"
            with pytest.raises(pymysql.err.OperationalError):
                pymysql.connect(host="127.0.0.1", port=port, user="").close()
    assert (folder / "data" / "accounts.sql").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("password", ["", "it's"])
def test_a_server_that_could_not_have_a_password_does_not_start(folder, password):
    with start(folder, free_port(), password) as server:
        assert server.wait(10) == 1
        assert "MARIADB_ROOT_PASSWORD has to be a password of letters and digits" in server.stderr.read()
