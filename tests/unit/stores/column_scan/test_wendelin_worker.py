"""The program beside an attempt: its protocol, and how it reads blocks back. Its libraries are stand-ins here, as they need another
Python.
"""

import ast
import importlib.util
import io
import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from storebench.stores.column_scan.wendelin_client import WORKER

DTYPE = [["uid", "<u8"], ["quantity", "<f8"], ["text", "S3"]]
ROW_BYTES, BLOCK_BYTES, ROWS = 19, 64, 11


class Array:
    """A ZBigArray of a database that drops the zeros at the end of each block."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype
        self.memory = np.zeros(shape, dtype)
        self.zfile = SimpleNamespace(blksize=BLOCK_BYTES, blktab={})

    def __getitem__(self, index):
        return self.memory[index]

    def store(self):
        data = self.memory.tobytes() + b"\0" * BLOCK_BYTES  # the last block goes on behind the array
        for number in range(-(-self.memory.nbytes // BLOCK_BYTES)):
            block = Block(data[number * BLOCK_BYTES :][:BLOCK_BYTES].rstrip(b"\0"))
            self.zfile.blktab[number] = block


class Block:
    def __init__(self, data):
        self.loadblkdata = lambda: bytearray(data)
        self._p_deactivate = lambda: None


class Server:
    """The storage and the database of a client, whose file grows with each transaction."""

    def __init__(self):
        self.root, self.size, self.packs, self.away = {}, 4, 0, None
        self._info, self.protocol_version = {"name": "Data.fs"}, b"Z5"

    def getSize(self):  # noqa: N802
        return self.size

    def commit(self):
        for one in self.root.values():
            one.store()
            self.size += one.memory.nbytes

    def connection(self):
        def pack():
            self.packs += 1

        database = SimpleNamespace(storage=self, close=lambda: None, pack=pack)
        return SimpleNamespace(root=lambda: self.root, db=lambda: database, close=lambda: None)


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def worker(server, monkeypatch):
    """Return a function that sends commands to the worker, and returns each answer with its bytes."""

    class Disconnected(Exception):
        pass

    def storage(address, wait, wait_timeout):
        if server.away:
            raise Disconnected(server.away)
        return server

    has = {
        "transaction": {"commit": server.commit},
        "wendelin": {},
        "wendelin.bigarray": {},
        "wendelin.bigarray.array_zodb": {"ZBigArray": Array},
        "ZEO": {},
        "ZEO.ClientStorage": {"ClientStorage": storage},
        "ZEO.Exceptions": {"ClientDisconnected": Disconnected},
        "ZODB": {},
        "ZODB.DB": {"DB": lambda storage: SimpleNamespace(open=storage.connection)},
        "ZODB.POSException": {"StorageError": type("StorageError", (Exception,), {})},
    }
    for name, members in has.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("wendelin_worker", WORKER)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    monkeypatch.setattr(program, "version", lambda package: "1")
    made = []

    def ask(*commands):
        stdin, stdout = io.BytesIO(), io.BytesIO()
        for command, data in commands:
            stdin.write(json.dumps({**command, "bytes": len(data)}).encode() + b"\n" + data)
        stdin.seek(0)
        if not made:
            made.append(program.Worker(stdin, stdout))
        made[0]._stdin, made[0]._stdout = stdin, stdout
        made[0].serve()
        stdout.seek(0)
        answers = []
        for line in iter(stdout.readline, b""):
            answer = json.loads(line)
            answers.append((answer, stdout.read(answer.get("bytes", 0))))
        return answers

    return ask


OPEN = ({"command": "open", "host": "zeo", "port": 8100, "wait_s": 1}, b"")
VALUES = {
    "uid": np.arange(1, ROWS + 1, dtype="<u8"),
    "quantity": np.arange(ROWS) / 4,
    "text": np.array([b"abc", b""] * 5 + [b""], "S3"),
}
COLUMNS = [
    ({"command": "column", "name": name, "dtype": dtype}, VALUES[name].tobytes()) for name, dtype in DTYPE
]
WRITE = ({"command": "write", "target": "t", "dtype": DTYPE}, b"")


def total(**more):
    return ({"command": "sum", "target": "t", "column": "quantity", "by": "numpy", **more}, b"")


def test_it_is_a_program_for_python_3_9_that_imports_nothing_of_this_package():
    tree = ast.parse(WORKER.read_text(), feature_version=(3, 9))
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert not any(name.startswith("storebench") for name in imported)


def test_what_was_written_is_added_up_and_read_back(worker, server):
    answers = worker(
        OPEN, *COLUMNS, WRITE, total(), total(by="pandas"), ({"command": "read", "target": "t"}, b"")
    )
    opened, written, by_numpy, by_pandas, read = (answers[place][0] for place in (0, 4, 5, 6, 7))
    assert (opened["protocol"], opened["storage"]) == ("Z5", "Data.fs")
    assert opened["versions"]["wendelin.core"] == "1" and opened["versions"]["Python"]
    assert written["stored_bytes"] == 2 * ROWS * ROW_BYTES and written["seconds"] > 0  # of two transactions
    assert by_numpy["sum"] == by_pandas["sum"] == VALUES["quantity"].sum()
    assert (read["rows"], read["formats"]) == (ROWS, ["Block"])
    for name, values in VALUES.items():
        ((_, data),) = worker(({"command": "column_read", "column": name}, b""))
        assert data == values.tobytes(), name


def test_a_hot_sum_goes_by_the_array_that_is_open(worker, server):
    worker(OPEN, *COLUMNS, WRITE, total())
    server.root.clear()
    ((answer, _),) = worker(total())
    assert answer["sum"] == VALUES["quantity"].sum()


def test_a_drop_packs_what_is_gone_away(worker, server):
    worker(OPEN, *COLUMNS, WRITE)
    drop = ({"command": "drop", "target": "t"}, b"")
    assert worker(drop, drop) == [({}, b""), ({}, b"")]
    assert (server.root, server.packs) == ({}, 1)


def test_what_is_not_there_is_said_and_the_next_command_answered(worker):
    answers = worker(OPEN, total(), *COLUMNS, WRITE, total(column="price"), total())
    assert answers[1][0] == {
        "kind": "missing",
        "error": "the database has no array t. Was the server's volume lost?",
    }
    assert answers[6][0] == {"kind": "missing", "error": "t has no column price"}
    assert answers[7][0]["sum"] == VALUES["quantity"].sum()
    ((answer, _),) = worker(({"command": "column_read", "column": "price"}, b""))
    assert answer == {"kind": "missing", "error": "there is no column price"}


def test_a_server_that_is_away_and_errors_of_libraries_are_said(worker, server):
    server.away = "timed out waiting for connection"
    ((answer, _),) = worker(OPEN)
    assert answer == {"kind": "unreachable", "error": "timed out waiting for connection"}
    server.away = None
    answers = worker(OPEN, ({"command": "column", "name": "uid", "dtype": "<u8"}, b"123"))
    assert answers[1][0]["kind"] == "refused" and answers[1][0]["error"].startswith("ValueError: buffer size")
