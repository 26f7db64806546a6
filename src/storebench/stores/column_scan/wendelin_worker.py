"""Run wendelin.core in a separate process: a program for Python 3.9 that imports nothing of this package.

The program reads commands from stdin, one line of JSON each, and answers on stdout with one line of JSON each. `bytes` in a command or an
answer is the number of bytes that follow its line. The program times only the operation. An answer with `error` has a `kind`: unreachable,
missing, refused.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, BinaryIO

import numpy as np
import pandas
import transaction
from wendelin.bigarray.array_zodb import ZBigArray
from ZEO.ClientStorage import ClientStorage
from ZEO.Exceptions import ClientDisconnected
from ZODB.DB import DB
from ZODB.POSException import StorageError

PACKAGES = ("wendelin.core", "ZODB", "ZEO", "BTrees", "persistent", "numpy", "pandas")


Answer = dict[str, Any]
Array = np.ndarray[Any, Any]


class Missing(Exception):
    """The requested array is not in the database."""


class Worker:
    """A client of a ZEO server, with the connection of the last `open` and the array that the last `sum` opened."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self._stdin, self._stdout = stdin, stdout
        self._address, self._wait_s = ("", 0), 0.0
        self._connection: Any = None
        self._columns: dict[str, Array] = {}  # columns to write, in memory
        self._view: Array | None = None  # view of the array in virtual memory
        self._rows: Array | None = None  # rows of the array that were read back

    def serve(self) -> None:
        """Answer commands until stdin ends."""
        for line in iter(self._stdin.readline, b""):
            command = json.loads(line)
            data = self._stdin.read(command.pop("bytes", 0))
            answer: Answer = {}
            more = b""
            try:
                result = getattr(self, "do_" + command.pop("command"))(data=data, **command)
                answer, more = result if isinstance(result, tuple) else (result, b"")
            except ClientDisconnected as error:
                answer = {
                    "kind": "unreachable",
                    "error": ": ".join(map(str, error.args)) or "the connection was lost",
                }
            except Missing as error:
                answer = {"kind": "missing", "error": str(error)}
            except (
                StorageError,
                ArithmeticError,
                LookupError,
                MemoryError,
                OSError,
                TypeError,
                ValueError,
            ) as error:
                answer = {"kind": "refused", "error": f"{type(error).__name__}: {error}"}
            if more:
                answer["bytes"] = len(more)
            self._stdout.write(json.dumps(answer).encode() + b"\n")
            self._stdout.write(more)
            self._stdout.flush()

    def do_open(self, host: str, port: int, wait_s: float, data: bytes) -> Answer:
        """Connect without reading an array."""
        self._address, self._wait_s = (host, port), wait_s
        self._connection = self._connect()
        storage = self._storage()
        return {
            "protocol": storage.protocol_version.decode(),
            "storage": storage._info["name"],  # the server's name of the storage; getName returns the address
            "versions": dict(
                [("Python", platform.python_version())] + [(name, version(name)) for name in PACKAGES]
            ),
        }

    def do_column(self, name: str, dtype: str, data: bytes) -> Answer:
        """Keep a column for a later write."""
        self._columns[name] = np.frombuffer(data, dtype)
        return {}

    def do_write(self, target: str, dtype: list[list[str]], data: bytes) -> Answer:
        """Write the columns as an array of rows. `dtype`: pairs of a column's name and type."""
        root, rows = self._root(), len(next(iter(self._columns.values())))
        before = self._storage().getSize()
        with timed() as times:
            root[target] = array = ZBigArray((rows,), np.dtype([tuple(column) for column in dtype]))
            transaction.commit()
            view = array[:]
            for name, values in self._columns.items():
                view[name] = values
            transaction.commit()
        self._columns.clear()
        return dict(times, stored_bytes=self._storage().getSize() - before)

    def do_sum(self, target: str, column: str, by: str, data: bytes) -> Answer:
        """Sum a column. The first sum opens the array; later sums use the open array."""
        with timed() as times:
            if self._view is None:
                view = self._array(self._root(), target)[:]
                if column not in names_of(view):
                    raise Missing(f"{target} has no column {column}")
                self._view = view
            total = SUMS[by](self._view, column)
        return dict(times, sum=total)

    def do_read(self, target: str, data: bytes) -> Answer:
        """Read the array's blocks as objects of the database, by a new connection and without virtual memory."""
        connection = self._connect()
        try:
            array = self._array(connection.root(), target)
            kept = np.zeros(array.shape, array.dtype)
            raw = kept.view("u1")
            kinds = set()
            for number, block in array.zfile.blktab.items():
                kinds.add(type(block).__name__)
                block_bytes = block.loadblkdata()
                start = number * array.zfile.blksize
                part = raw[start : start + array.zfile.blksize]
                # zeros fill the last block after the array
                block_bytes = np.frombuffer(bytes(block_bytes), "u1")[: len(part)]
                part[: len(block_bytes)] = block_bytes
                block._p_deactivate()
        finally:
            close(connection)
        self._rows = kept
        return {"rows": len(kept), "formats": sorted(kinds)}

    def do_column_read(self, column: str, data: bytes) -> tuple[Answer, bytes]:
        """Return the bytes of a column of the array that was read back."""
        if self._rows is None or column not in names_of(self._rows):
            raise Missing(f"there is no column {column}")
        return {}, np.ascontiguousarray(self._rows[column]).tobytes()

    def do_drop(self, target: str, data: bytes) -> Answer:
        """Remove the array, and pack the file. A missing array is no error."""
        if self._root().pop(target, None) is not None:
            transaction.commit()
            self._connection.db().pack()
        return {}

    def _connect(self) -> Any:
        storage = ClientStorage(self._address, wait=True, wait_timeout=self._wait_s)
        return DB(storage).open()

    def _storage(self) -> Any:
        return self._connection.db().storage

    def _root(self) -> Any:
        return self._connection.root()

    @staticmethod
    def _array(root: Any, target: str) -> Any:
        if target not in root:
            raise Missing(f"the database has no array {target}. Was the server's volume lost?")
        return root[target]


def sum_by_numpy(view: Array, column: str) -> float:
    return float(view[column].sum())


def sum_by_pandas(view: Array, column: str) -> float:
    """Sum a column of a pandas frame that shares the memory of all columns, with an array as its index."""
    columns = {name: view[name] for name in names_of(view)}
    frame = pandas.DataFrame(columns, index=np.arange(len(view)), copy=False)
    return float(frame[column].sum())


SUMS = {"numpy": sum_by_numpy, "pandas": sum_by_pandas}


def names_of(rows: Array) -> tuple[str, ...]:
    return rows.dtype.names or ()


def close(connection: Any) -> None:
    database = connection.db()
    connection.close()
    database.close()


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Measure the seconds of the block, and the CPU seconds of all threads."""
    times: dict[str, float] = {}
    cpu_s, began_s = time.process_time(), time.perf_counter()
    yield times
    times["seconds"] = time.perf_counter() - began_s
    times["cpu_s"] = time.process_time() - cpu_s


def main() -> None:
    # Keep library output out of the answers.
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Worker(sys.stdin.buffer, stdout).serve()


if __name__ == "__main__":
    main()
