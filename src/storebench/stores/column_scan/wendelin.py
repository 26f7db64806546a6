"""The base class of wendelin.core's stores: the table is a ZBigArray of rows in ZODB, in a ZEO server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from storebench.attempt.clock import OperationClock
from storebench.errors import SpecError, VerificationFailed
from storebench.stores.base import Durability, Pod, Server, TypicalTime
from storebench.stores.caches import Cold, Servers, reconnect
from storebench.stores.column_scan import numpy_sum
from storebench.stores.column_scan.base import ScanStore
from storebench.stores.column_scan.table import BY_NAME, RECORD, ROW_BYTES
from storebench.stores.column_scan.wendelin_client import WendelinProcess

if TYPE_CHECKING:
    import numpy as np

    from storebench.stores.column_scan.base import Columns

PORT = 8100
WAIT_S = 10  # seconds to wait for a server that does not answer
BUFFER_BYTES = (
    8 << 10
)  # the buffer of a file that the server has open; dropping the page cache does not empty it
# Bytes per database object, by wendelin.core's block format.
PART_BYTES = {"ZBlk0": 2 << 20, "ZBlk1": 4 << 10}


class WendelinStore(ScanStore):
    """A store of wendelin.core. The client is a separate process with the Python version that wendelin.core needs.

    The client keeps the pages of the array that it has read in shared memory, so a hot sum sends no request to the server.
    """

    by: ClassVar[str]  # the library that sums
    connection = "zeo"
    provisioned_servers_only = "its client unpickles each object that the ZEO server sends, so a foreign server can make it run any program"
    pod = Pod("wendelin", shared_memory=True)
    holds_the_table = True
    memory_fold = 5  # columns, array, blocks as objects, the transaction's file, and a buffer
    typical = (
        TypicalTime("write", fixed_s=15, million_s=5),
        TypicalTime("cold_sum", fixed_s=10.5, million_s=9),
        TypicalTime("hot_sum", fixed_s=4.5, million_s=9),
    )
    _client: WendelinProcess | None = None
    _read = False  # whether the array was read back

    def connect(self) -> None:
        self._servers = Servers.from_environment()
        if self.operation != "drop":
            super().connect()
            self._format = self.values.get("block_format", "")
            if self._format not in PART_BYTES:
                raise SpecError(f"Unknown block_format {self._format!r}: {' or '.join(PART_BYTES)}")
            if self.operation != "write" and not self._servers:
                raise SpecError(
                    "A sum needs the agent of a server that the run provisions, which reports the bytes read from disk, and empties the"
                    f" caches: ask for {self.name}@one"
                )
        self._open()

    def describe(self) -> Server:
        """Describe the server. A ZEO server reports its protocol, but no version."""
        return Server("ZEO", f"protocol {self._opened['protocol']}", {"storage": self._opened["storage"]})

    def client_settings(self) -> Mapping[str, Any]:
        return {"versions": self._opened["versions"]}

    def durability(self) -> Durability:
        return Durability("disk", "FileStorage: fsync before a transaction's end is acknowledged")

    def cpu_s(self) -> float:
        return super().cpu_s() + (self._client.cpu_s() if self._client else 0.0)

    def columns(self, manifest: Mapping[str, Any], prefix: str) -> Columns:
        """Send the columns to the client process, and return none."""
        from storebench.stores.column_scan.dataset import columns_of

        for name, values in columns_of(self._s3, self.bucket, prefix, manifest):
            self._ask("column", values.tobytes(), name=name, dtype=BY_NAME[name].dtype)
        return {}

    def write(self, columns: Columns, clock: OperationClock) -> None:
        answer = self._ask("write", target=self.target, dtype=RECORD)
        self._count_in(clock, answer)
        self._stored_bytes = int(answer["stored_bytes"])

    def stored_bytes(self) -> int:
        """Return the bytes by which the server's file grew."""
        return self._stored_bytes

    def make_cold(self) -> Cold:
        """Restart the server without its file in the page cache, and connect a new client.

        At its start a server reads the last hundred transactions, to report them to clients. It maps no file, so these pages are dropped.
        """
        return self._servers.make_cold(self._away(), self._needed_bytes())

    def scan(self) -> float:
        return self.timed_scan(OperationClock())

    def timed_scan(self, clock: OperationClock) -> float:
        """Scan the column, timed by the client process."""
        answer = self._ask("sum", target=self.target, column=self.column, by=self.by)
        self._count_in(clock, answer)
        return float(answer["sum"])

    def count(self) -> int:
        """Count the rows that are read back: the array's length is only the planned number."""
        return len(self.read_back("uid").nonzero()[0])

    def additions(self) -> int:
        return numpy_sum.additions(self.rows)

    def read_bytes(self) -> int:
        """Return the bytes that the servers read from disk."""
        return self._servers.read_bytes()

    def read_back(self, column: str) -> np.ndarray[Any, Any]:
        """Read the blocks as database objects over a new connection. Raises VerificationFailed if blocks have another format."""
        import numpy as np

        if not self._read:
            answer = self._ask("read", target=self.target)
            if answer["formats"] != [self._format]:
                raise VerificationFailed(
                    f"The blocks are {' and '.join(answer['formats']) or 'not there'}, not {self._format}"
                )
            self._read = True
        return np.frombuffer(self._ask("column_read", column=column)["data"], BY_NAME[column].dtype)

    def drop(self) -> None:
        self._ask("drop", target=self.target)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    @contextmanager
    def _away(self) -> Iterator[None]:
        """Close the client during a restart of the server, and reconnect at the end."""
        self.close()
        yield
        reconnect(self._open)

    def _needed_bytes(self) -> int:
        """Return the bytes of all rows. Zeros at the end of a block or chunk are not stored, but no row is all zeros."""
        stored = self.rows * ROW_BYTES
        parts = -(-stored // PART_BYTES[self._format])
        return max(0, stored - parts * ROW_BYTES - BUFFER_BYTES)

    def _open(self) -> None:
        assert self.server is not None
        self._client = WendelinProcess(self.values.get("block_format") or next(iter(PART_BYTES)))
        self._opened = self._ask("open", host=self.server.host, port=self.server.port or PORT, wait_s=WAIT_S)

    def _ask(self, command: str, data: bytes = b"", **arguments: Any) -> dict[str, Any]:
        assert self._client is not None, "connect() comes first"
        return self._client.ask(command, data, **arguments)

    @staticmethod
    def _count_in(clock: OperationClock, answer: Mapping[str, Any]) -> None:
        clock.operation_s += answer["seconds"]
        clock.operation_cpu_s += answer["cpu_s"]
