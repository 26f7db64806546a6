"""The wendelin.core stores' handling of their client's answers, with a client that keeps arrays in this process. The real client and server
are those of a run (tests/e2e/test_column_scan.py)."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from storebench.connection import Connection
from storebench.errors import SpecError, StoreRefused, StoreUnreachable, VerificationFailed
from storebench.servers.watch import SET
from storebench.stores import caches
from storebench.stores.column_scan import wendelin, wendelin_client
from storebench.stores.column_scan.table import ROW_BYTES
from storebench.stores.column_scan.wendelin_client import WendelinProcess
from tests.unit.stores.column_scan.conftest import ROWS

STORES = ("wendelin-numpy", "wendelin-pandas")


class Database:
    """A ZEO server with its agent. A sum reads the whole array from disk if nothing of it is in the page cache."""

    pod = "zeo-0"

    def __init__(self):
        self.arrays, self.asked, self.read, self.cached, self.left = {}, [], 0, True, 0

    def figures(self):
        return SimpleNamespace(read_bytes=self.read)

    def lukewarm(self):
        self.asked.append("lukewarm")
        self.cached = False
        return SimpleNamespace(resident_after_drop_bytes=self.left)

    def resident(self):
        return SimpleNamespace(resident_bytes=self.left)


class Client:
    """A client that answers like wendelin_worker.py."""

    def __init__(self, database, block_format):
        self.database, self.format, self.columns, self.rows = database, block_format, {}, None
        database.asked.append("start")

    def ask(self, command, data=b"", **told):
        self.database.asked.append(command)
        return {"data": b"", **getattr(self, command)(data, **told)}

    def open(self, data, host, port, wait_s):
        return {"protocol": "Z5", "storage": "/var/lib/zeo/Data.fs", "versions": {"wendelin.core": "0.13"}}

    def column(self, data, name, dtype):
        self.columns[name] = np.frombuffer(data, dtype)
        return {}

    def write(self, data, target, dtype):
        rows = np.empty(ROWS, dtype)
        for name, values in self.columns.items():
            rows[name] = values
        self.database.arrays[target] = (self.format, rows)
        return {"seconds": 0.5, "cpu_s": 0.25, "stored_bytes": rows.nbytes + 1000}

    def sum(self, data, target, column, by):
        _, rows = self.database.arrays[target]
        if not self.database.cached:
            self.database.read, self.database.cached = self.database.read + rows.nbytes, True
        return {"seconds": 0.125, "cpu_s": 0.0625, "sum": float(rows[column].sum())}

    def read(self, data, target):
        kind, self.rows = self.database.arrays[target]
        return {"rows": len(self.rows), "formats": [kind]}

    def column_read(self, data, column):
        return {"data": self.rows[column].tobytes()}

    def drop(self, data, target):
        self.database.arrays.pop(target, None)
        return {}

    def cpu_s(self):
        return 0.0

    def close(self):
        self.database.asked.append("end")


@pytest.fixture
def database(monkeypatch):
    made = Database()
    monkeypatch.setattr(wendelin, "WendelinProcess", lambda block_format: Client(made, block_format))
    watch = SimpleNamespace(agents=[made])
    monkeypatch.setattr(caches, "Watch", SimpleNamespace(from_environment=lambda: watch))
    monkeypatch.setattr(caches, "SETTLE_S", 0)
    monkeypatch.setenv(SET, "a1")
    made.watch = watch

    def cold_together(agents):
        made.asked.append("cold")
        made.cached = True  # a server reads its file when it starts
        return {"zeo-0": SimpleNamespace(resident_after_drop_bytes=made.left)}

    monkeypatch.setattr(caches.agent, "cold_together", cold_together)
    return made


@pytest.fixture
def tried(attempt, database, monkeypatch):
    server = SimpleNamespace(host="zeo", port=8100, extra={})
    monkeypatch.setattr(Connection, "from_environment", classmethod(lambda cls, name: server))
    return lambda store, operation, block_format="ZBlk0", **more: attempt(
        store, operation, block_format=block_format, **more
    )


@pytest.mark.parametrize("block_format", ["ZBlk0", "ZBlk1"])
@pytest.mark.parametrize("store", STORES)
def test_a_store_is_measured_by_its_client_s_clock_and_verified(tried, study, database, store, block_format):
    results = {}
    for operation in study.operations:
        results[operation.name] = result = tried(store, operation.name, block_format)
        assert (result.status, result.disturbed) == ("verified", None), result.error
        cold_rate = {"cold_read_mb_per_s"} if operation.name == "cold_sum" else set()
        assert result.metrics.keys() == {*operation.metrics, *cold_rate}
        assert result.environment["server_version"] == "protocol Z5"
        assert result.environment["client_settings"] == {"versions": {"wendelin.core": "0.13"}}
    write, cold, hot = (results[name] for name in ("write", "cold_sum", "hot_sum"))
    assert write.metrics["write_s"] == 0.5 and "all 23 columns" in write.verification
    assert write.metrics["stored_bytes"] == ROWS * ROW_BYTES + 1000 and write.durability == "disk"
    assert cold.metrics["sum_s"] == hot.metrics["sum_s"] == 0.125 and cold.client_cpu_share == 0.5
    assert cold.metrics["disk_read_bytes"] >= cold.metrics["needed_bytes"] > 0.9 * ROWS * ROW_BYTES
    assert (hot.metrics["disk_read_bytes"], hot.metrics["warm_passes"]) == (0, 2)
    assert "30,011 rows counted" in hot.verification


def test_a_cold_sum_is_of_a_new_client_after_a_server_has_started_and_was_dropped_again(tried, database):
    tried("wendelin-numpy", "write")
    database.asked.clear()
    tried("wendelin-numpy", "cold_sum")
    assert database.asked[:8] == ["start", "open", "end", "cold", "start", "open", "lukewarm", "sum"]


def test_a_sum_that_was_not_cold_is_not_verified(tried, database):
    tried("wendelin-numpy", "write")
    database.left = 4096
    with pytest.raises(
        VerificationFailed, match="not cold: 4,096 bytes of the data stayed in the page cache"
    ):
        tried("wendelin-numpy", "cold_sum")
    database.left, database.lukewarm = 0, lambda: SimpleNamespace(resident_after_drop_bytes=0)
    with pytest.raises(VerificationFailed, match=r"and 0 came from disk, where it needs [0-9,]+"):
        tried("wendelin-numpy", "cold_sum")
    database.figures = lambda: SimpleNamespace(read_bytes=None)
    with pytest.raises(StoreRefused, match="no read can be proven cold"):
        tried("wendelin-numpy", "cold_sum")


def test_what_a_sum_has_to_read_leaves_out_the_zeros_that_are_not_stored():
    def needed(block_format, rows):
        store = wendelin.WendelinStore.__new__(wendelin.WendelinStore)
        store._format, store.rows = block_format, rows
        return store._needed_bytes()

    stored = 100_000 * ROW_BYTES
    assert needed("ZBlk0", 100_000) == stored - 9 * ROW_BYTES - 8192
    assert 0.95 * stored < needed("ZBlk1", 100_000) < needed("ZBlk0", 100_000)
    assert needed("ZBlk1", 1) == 0


def test_a_sum_without_agents_is_refused_before_it_connects(tried, database):
    database.watch.agents = []
    for operation in ("cold_sum", "hot_sum"):
        with pytest.raises(SpecError, match="ask for wendelin-pandas@one"):
            tried("wendelin-pandas", operation)
    assert database.asked == []


@pytest.mark.parametrize("operation", ["write", "hot_sum", "drop"])
def test_a_pod_connects_to_no_server_that_its_run_has_not_brought(tried, database, monkeypatch, operation):
    monkeypatch.delenv(SET)
    with pytest.raises(
        SpecError, match=r"wendelin-numpy is measured only at servers that the run .* unpickles"
    ):
        tried("wendelin-numpy", operation)
    assert database.asked == []


def test_changed_values_other_formats_and_lost_rows_are_not_verified(tried, database):
    tried("wendelin-numpy", "write")
    ((target, (_, rows)),) = database.arrays.items()
    rows["quantity"][[3, 4]] = rows["quantity"][[4, 3]]  # the same sum
    with pytest.raises(VerificationFailed, match="quantity has other values"):
        tried("wendelin-numpy", "hot_sum")
    rows["uid"][5] = 0
    with pytest.raises(VerificationFailed, match="has 30,010 rows, and not 30,011"):
        tried("wendelin-numpy", "hot_sum")
    database.arrays[target] = ("ZBlk1", rows)
    with pytest.raises(VerificationFailed, match="The blocks are ZBlk1, not ZBlk0"):
        tried("wendelin-numpy", "hot_sum")


def test_a_drop_needs_neither_agents_nor_a_format(tried, database):
    tried("wendelin-numpy", "write")
    database.watch.agents = []
    assert tried("wendelin-numpy", "drop", "").status == "verified"
    assert database.arrays == {}


def test_bad_columns_and_formats_are_refused(tried, study):
    with pytest.raises(SpecError, match="Unknown column to add up 'quantty'"):
        tried("wendelin-numpy", "hot_sum", column="quantty")
    with pytest.raises(SpecError, match="Unknown block_format 'ZBlk2': ZBlk0 or ZBlk1"):
        tried("wendelin-numpy", "write", "ZBlk2")


def test_only_these_stores_have_block_formats(study):
    (axis,) = study.axes
    for store in study.stores:
        assert axis.means_something(f"{store}@one", "reference", {}) == (store in STORES)
    with pytest.raises(SpecError, match="'ZBlk2' is not ZBlk0 or ZBlk1"):
        axis.check("ZBlk2")


# The process itself

PROGRAM = """
import json, os, signal, sys
data = sys.stdin.buffer.read(json.loads(sys.stdin.buffer.readline())["bytes"])
print("a warning", file=sys.stderr, flush=True)
"""


@pytest.fixture
def process(tmp_path, monkeypatch):
    """Yield a process with this reaction to the first command."""
    made = []

    def start(does):
        program = tmp_path / "worker.py"
        program.write_text(PROGRAM + does)
        monkeypatch.setattr(wendelin_client, "WORKER", program)
        monkeypatch.setenv(wendelin_client.PYTHON, sys.executable)
        made.append(WendelinProcess("ZBlk1"))
        return made[-1]

    yield start
    for one in made:
        one.close()


def test_bytes_go_and_come_behind_a_line_and_the_format_is_told(process):
    does = """
answer = data[::-1] + os.environ["WENDELIN_CORE_ZBLK_FMT"].encode()
sys.stdout.buffer.write(b'{"rows": 1, "bytes": %d}\\n' % len(answer) + answer)
"""
    assert process(does).ask("column", b"a\nb") == {"rows": 1, "data": b"b\naZBlk1"}


@pytest.mark.parametrize(
    ("does", "kind", "says"),
    [
        ("""print('{"error": "no such", "kind": "missing"}')""", StoreRefused, r"not there: no such$"),
        ("""print('{"error": "gone", "kind": "unreachable"}')""", StoreUnreachable, r"ZEO server .*: gone"),
        ("""print('{"error": "TypeError: x", "kind": "refused"}')""", StoreRefused, "failed: TypeError: x"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", StoreRefused, "ended by SIGSEGV at 'sum': a warning"),
        ("sys.exit(3)", StoreRefused, "ended with exit code 3 at 'sum': a warning"),
        ("""print('{"bytes": 9}\\n1234', end="")""", StoreRefused, "ended with exit code 0 at 'sum'"),
        (
            "sys.exit('ZEO.Exceptions.ClientDisconnected: timed out')",
            StoreUnreachable,
            r"does not answer: ZEO\.Exceptions\.ClientDisconnected: timed out",
        ),
    ],
)
def test_how_it_ends_is_said(process, does, kind, says):
    with pytest.raises(kind, match=says):
        process(does).ask("sum", target="t")


def test_a_python_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setenv(wendelin_client.PYTHON, "/nowhere/python")
    with pytest.raises(
        StoreRefused, match=r"It is in the image wendelin; elsewhere STOREBENCH_WENDELIN_PYTHON"
    ):
        WendelinProcess("ZBlk0")
