"""Two checkouts with one home: `make` in the second one refuses before it changes anything, while the stack runs for the first one."""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def home():
    """A home whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="sb-") as folder:
        yield Path(folder)


@pytest.fixture
def checkouts(tmp_path):
    """Return two checkouts. Only local/, whose path identifies a checkout, is not shared."""
    made = []
    for name in ("first", "second"):
        made.append(tmp_path / name)
        made[-1].mkdir()
        for entry in ROOT.iterdir():
            if entry.name != "local" and not entry.name.startswith("."):
                (made[-1] / entry.name).symlink_to(entry)
        shutil.copytree(ROOT / "local", made[-1] / "local")
    return made


@pytest.fixture
def running_for(home):
    """Start a fake supervisor in the home, for a stack of a checkout."""
    servers = []

    def answer(server):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"data": []}')

    def begin(checkout):
        (home / "run").mkdir()
        (home / "run" / "checkout").write_text(str(checkout))
        servers.append(socket.socket(socket.AF_UNIX))
        servers[0].bind(str(home / "run" / "supervisor.sock"))
        servers[0].listen()
        threading.Thread(target=answer, args=servers, daemon=True).start()

    yield begin
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def make(target, checkout, home):
    """Run `make` there, with a set-up that fails at once in the place of its steps."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MAKE", "MFLAGS", "STOREBENCH_"))
    }
    return subprocess.run(
        ["make", target, "PROGRESS=echo setting up && false"],
        cwd=checkout,
        env=environment | {"STOREBENCH_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def entries(home):
    return {(str(path), path.lstat().st_mtime_ns) for path in [home, *home.rglob("*")]}


@pytest.mark.parametrize("target", ["up", "run", "setup", "unit"])
def test_the_second_checkout_refuses_before_the_set_up_and_changes_nothing(
    target, checkouts, home, running_for
):
    first, second = checkouts
    running_for(first)
    before = entries(home)
    done = make(target, second, home)
    assert f"The stack in {home} runs for the checkout {first}. `make stop`" in done.stderr
    assert done.returncode == 2 and "setting up" not in done.stdout
    assert entries(home) == before


def test_the_checkout_of_the_running_stack_sets_up(checkouts, home, running_for):
    running_for(checkouts[0])
    done = make("up", checkouts[0], home)
    assert "setting up" in done.stdout and "runs for the checkout" not in done.stderr


def test_a_home_where_no_stack_runs_is_any_checkout_s(checkouts, home):
    (home / "run").mkdir()
    (home / "run" / "checkout").write_text(str(checkouts[0]))
    assert "setting up" in make("up", checkouts[1], home).stdout
