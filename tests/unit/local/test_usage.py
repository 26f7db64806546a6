"""The CPU time of a part of the stack, reported over HTTP."""

import os
import subprocess
import sys
import threading
import time

import pytest

from local.stack import supervisor, usage
from local.stack.settings import Settings
from storebench.attempt.usage import boot_id, cpu_s
from storebench.connection import Connection
from storebench.stores import load

# Its child is busy and ends, and it goes on.
SERVER = """
import subprocess, sys, time
busy = "import time\\nend = time.process_time() + 0.3\\nwhile time.process_time() < end: pass"
subprocess.run([sys.executable, "-c", busy])
print("done", flush=True)
time.sleep(60)
"""


@pytest.fixture
def busy():
    """Yield the pid of a shell whose child server was busy for at least 0.3 s."""
    shell = subprocess.Popen(
        ["sh", "-c", '"$0" -c "$1"; true', sys.executable, SERVER],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert shell.stdout.readline() == b"done\n"
    yield shell.pid
    os.killpg(shell.pid, 9)
    shell.wait()


def test_what_a_process_has_started_counts_also_when_it_has_ended(busy):
    assert 0.3 <= usage.cpu_s({busy}) < 5
    assert usage.cpu_s({2**22 + 1}) == 0
    began, used = time.process_time(), usage.cpu_s({os.getpid()})
    while time.process_time() < began + 0.2:
        pass
    assert usage.cpu_s({os.getpid()}) - used > 0.15


def test_a_store_is_told_what_its_server_has_used(busy, monkeypatch, tmp_path):
    states = [{"namespace": "mongodb", "pid": busy, "is_running": True, "name": "ferretdb"}]
    looks = []
    monkeypatch.setattr(supervisor, "processes", lambda settings: looks.append(1) or states)
    monkeypatch.setattr(Settings, "address", lambda self, name: ("127.0.0.1", 0))
    server = usage.server(Settings(home=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/mongodb"
    try:
        connection = Connection("mongodb", host="db", extra={"usage_url": url})
        mongodb = load("bulk_write_read", "mongodb")(
            client="reference", target="t", connection=connection, source=None
        )
        found = mongodb.cpu_of_servers_s()
        assert found.keys() == {boot_id()} and found[boot_id()] >= 0.3
        asked = len(looks)
        assert mongodb.cpu_of_servers_s().keys() == {boot_id()}
        assert len(looks) == asked, "what is known and lives is not asked for again"
        monkeypatch.setattr(usage, "KNOWN_S", 0)
        states[0]["is_running"] = False
        assert mongodb.cpu_of_servers_s() is None
        assert cpu_s(url.replace("mongodb", "nonesuch")) is None
    finally:
        server.shutdown()
        server.server_close()
    assert cpu_s(url) is None, "nobody is there"
