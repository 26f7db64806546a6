"""The protocol with the Java program, played by a shell or Python script."""

import sys
import time
from types import SimpleNamespace

import pytest

from storebench.connection import Connection
from storebench.dataset.schema import FIELD_NAMES, FIELDS
from storebench.errors import SpecError, StoreRefused, StoreUnreachable, VerificationFailed
from storebench.s3 import hadoop_settings
from storebench.stores.bulk_write_read.delta_kernel import DeltaKernel
from storebench.stores.bulk_write_read.delta_reader import ReaderProcess, checksum_from
from storebench.stores.bulk_write_read.delta_standalone import DeltaStandalone


@pytest.fixture
def reader():
    """Start a program in the reader's place."""
    started = []

    def start(program):
        started.append(ReaderProcess((sys.executable, "-c", program)))
        return started[-1]

    yield start
    for process in started:
        process.close()


def answering(text):
    return f"import sys\nfor line in sys.stdin: print({text!r}, flush=True)"


def test_a_command_is_one_line_and_so_is_its_answer(reader):
    echo = reader("import sys\nfor line in sys.stdin: print('{\"got\": ' + line.strip() + '}', flush=True)")
    assert echo.ask("open", table="a\nb é") == {"got": {"command": "open", "table": "a\nb é"}}
    assert echo.ask("read") == {"got": {"command": "read"}}


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("unreachable", StoreUnreachable),
        ("refused", StoreRefused),
        ("mismatch", VerificationFailed),
        ("?", StoreRefused),
    ],
)
def test_what_went_wrong_becomes_the_error_of_its_kind(reader, kind, error):
    with pytest.raises(error, match="The reader failed: no luck"):
        reader(answering(f'{{"error": "no luck", "kind": "{kind}"}}')).ask("read")


def test_a_program_that_dies_is_a_failure_with_its_last_words(reader):
    dying = reader(
        "import sys; sys.stdin.readline(); sys.stderr.write('a\\nb\\nc\\nd\\ne\\nlast\\n'); sys.exit(3)"
    )
    with pytest.raises(StoreRefused, match=r"died at 'read', exit code 3: b \| c \| d \| e \| last$"):
        dying.ask("read")
    with pytest.raises(StoreRefused, match="died at 'count'"):
        dying.ask("count")


def test_a_program_that_is_killed_is_told_from_one_that_ends(reader):
    dying = reader("import os, sys; sys.stdin.readline(); os.kill(os.getpid(), 9)")
    with pytest.raises(StoreRefused, match="killed by signal 9: it said nothing"):
        dying.ask("read")


def test_half_an_answer_is_none(reader):
    with pytest.raises(StoreRefused, match="died"):
        reader("import sys; sys.stdin.readline(); print('{\"rows\": 1', end='')").ask("read")


def test_what_is_no_json_is_no_answer(reader):
    with pytest.raises(StoreRefused, match="no answer to 'read': Picked up"):
        reader(answering("Picked up JAVA_TOOL_OPTIONS")).ask("read")


def test_without_java_the_reader_cannot_be_started():
    with pytest.raises(StoreRefused, match=r"cannot be started: .*no-such-java"):
        ReaderProcess(("no-such-java",))


def test_its_cpu_time_is_counted(reader):
    busy = reader(
        "import sys, time\nfor line in sys.stdin:\n while time.process_time() < 0.3: pass\n print('{}', flush=True)"
    )
    assert busy.ask("read") == {}
    assert 0.2 < busy.cpu_s() < 5


def test_a_program_that_does_not_end_is_killed(reader, monkeypatch):
    monkeypatch.setattr("storebench.stores.program.END_TIMEOUT_S", 0.1)
    stubborn = reader("import time\ntime.sleep(60)")
    began = time.monotonic()
    stubborn.close()
    assert time.monotonic() - began < 10


def test_the_settings_of_s3a_have_the_connection():
    settings = hadoop_settings(
        Connection("s3", login="key", password="secret", extra={"endpoint_url": "http://s3:9000"})
    )
    assert settings["fs.s3a.endpoint"] == "http://s3:9000"
    assert settings["fs.s3a.connection.ssl.enabled"] == "false"
    assert (settings["fs.s3a.access.key"], settings["fs.s3a.secret.key"]) == ("key", "secret")
    assert "fs.s3a.access.key" not in hadoop_settings(Connection("s3")), "Hadoop looks where it always does"


def test_a_checksum_has_the_fields_in_order():
    answer = {"rows": 3, "row_sum": "ff", "fields": [f"{n:x}" for n in range(len(FIELD_NAMES))]}
    found = checksum_from(answer, FIELDS)
    assert (found.rows, found.row_sum) == (3, 255)
    assert found.fields[FIELD_NAMES[49]] == 49


@pytest.mark.parametrize("client", ["reference", "tuned"])
def test_the_program_is_told_the_client_and_tells_what_it_does_for_the_machine(monkeypatch, client):
    asked = []

    class Reader:
        def __init__(self, options):
            assert not options, "Java trusts its own CAs"

        def ask(self, command, **arguments):
            asked.append((command, arguments["reader"], arguments["client"]))
            return {"name": "n", "version": "1", "settings": {}, "client_settings": {"threads": 4}}

    monkeypatch.setattr("storebench.stores.bulk_write_read.delta_reader.ReaderProcess", Reader)
    store = DeltaKernel(
        client=client,
        target="t",
        connection=Connection("s3"),
        source=SimpleNamespace(bucket="b"),
        operation="read",
    )
    monkeypatch.setattr(store, "check_table", lambda: None)
    store.connect()
    assert asked == [("open", "delta-kernel", client)]
    assert store.client_settings() == {"threads": 4}


@pytest.mark.parametrize("store_class", [DeltaStandalone, DeltaKernel])
def test_the_stores_only_read(store_class):
    store = store_class(client="reference", target="t", connection=None, source=None)
    assert store.operations == ("read",)
    with pytest.raises(SpecError, match="only reads: delta-spark writes its tables"):
        store.write(None, None)
