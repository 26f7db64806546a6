"""Stores that only read Delta tables, with a Java program (images/jvm/reader)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from storebench import s3
from storebench.attempt.clock import OperationClock
from storebench.connection import tls
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.schema import Field
from storebench.errors import (
    SpecError,
    StorebenchError,
    StoreRefused,
    StoreUnreachable,
    VerificationFailed,
)
from storebench.redact import redacted
from storebench.stores.base import Pod, Server, TypicalTime
from storebench.stores.bulk_write_read.delta import DeltaStore
from storebench.stores.program import Program, last

CLASSPATH = "STOREBENCH_READER_CLASSPATH"
DEFAULT_CLASSPATH = "/opt/reader/*"
JAVA = (
    "java",
    "-XX:MaxRAMPercentage=50",  # share of the container's memory: the rest is for Python, S3A's buffers and the JVM itself
    # By default the JVM prints its own messages on stdout, which has the answers.
    "-XX:+DisplayVMOutputToStderr",
    "-Xlog:disable",
    "-Xlog:all=warning:stderr",
    "-Duser.timezone=UTC",  # Delta Standalone reads timestamps in the JVM's own zone
    "-classpath",
)
MAIN = "storebench.reader.Main"
LOG_LINES = 5  # number of lines of a dead program's output in the error
ERRORS: dict[str, type[StorebenchError]] = {"unreachable": StoreUnreachable, "mismatch": VerificationFailed}


class DeltaReader(DeltaStore):
    """A store that reads a table written by the store `filled_by`. `name` is also the program's name of the library.

    `connect` starts the program: the start of Java and the loading of the S3 client are not part of the operation. The operation includes
    opening the table's log, planning, and the loop over all values.
    """

    operations = ("read",)
    filled_by = "delta-spark"
    typical = (TypicalTime("read", fixed_s=44, million_s=160),)  # with the fill by another store
    pod = Pod("jvm")

    @classmethod
    def cannot_address(cls, bucket: str) -> str:
        return s3.java_cannot_address(bucket)

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        if name := next((field.name for field in schema if field.type == "float"), None):
            return f"the column {name!r} is a float, whose text Java gives in another way than Python. Make it a decimal, or text"
        return super().cannot_hold_fields(schema)

    _reader: ReaderProcess | None = None
    _client_settings: dict[str, Any]

    def connect(self) -> None:
        if self.operation == "drop":
            return
        assert self.server is not None
        self.check_table()
        self._reader = ReaderProcess(options=tls.java_options(self.server.extra.get(tls.CA_CERTS)))
        opened = self._reader.ask(
            "open",
            reader=self.name,
            client=self.client,
            table=self.uri("s3a"),
            settings=s3.hadoop_settings(self.server),
        )
        self._server = Server(opened["name"], opened["version"], opened["settings"])
        self._client_settings = opened["client_settings"]

    def describe(self) -> Server:
        """Return the library's own name and version, and the version of Java."""
        return self._server

    def client_settings(self) -> dict[str, Any]:
        """Return the settings that the program reported."""
        return self._client_settings

    def prepare(self) -> None:
        raise SpecError(f"{self.name} only reads: {self.filled_by} writes its tables")

    def write(self, batch: int | None, clock: OperationClock) -> int:
        raise SpecError(f"{self.name} only reads: {self.filled_by} writes its tables")

    def read(self, clock: OperationClock) -> int:
        with clock.operation():
            return int(self._ask("read")["rows"])

    def count(self) -> int:
        return int(self._ask("count")["rows"])

    def checksum(self) -> TableChecksum:
        """Return the checksum that the program computes in a second pass of the loop that `read` times."""
        schema = self.source.schema
        fields = [{"name": field.name, "type": field.type, "scale": field.scale or 0} for field in schema]
        return checksum_from(self._ask("checksum", fields=fields), schema)

    def verified_by(self) -> str:
        return f"the {self.client} loop of {self._server.name}"

    def cpu_s(self) -> float:
        return time.process_time() + (self._reader.cpu_s() if self._reader else 0.0)

    def close(self) -> None:
        if self._reader:
            self._reader.close()

    def _ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        assert self._reader is not None, "connect() comes first"
        return self._reader.ask(command, **arguments)


class ReaderProcess(Program):
    """The Java program. Each line of its stdin is a JSON command, and it answers each with a line on stdout.

    Credentials go through stdin: neither the command line nor the environment has them.
    """

    def __init__(self, command: tuple[str, ...] | None = None, options: tuple[str, ...] = ()) -> None:
        """Start the program. `options`: options of the JVM. Raises StoreRefused without Java."""
        if command is None:
            command = (*JAVA[:1], *options, *JAVA[1:], os.environ.get(CLASSPATH) or DEFAULT_CLASSPATH, MAIN)
        try:
            super().__init__(command, encoding="utf-8")
        except OSError as error:
            raise StoreRefused(f"The reader cannot be started: {error}") from error

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer to a command. Raises the error that the program reports, or StoreRefused if the program died."""
        assert self.process.stdin is not None and self.process.stdout is not None
        line = ""
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        if not line.endswith("\n"):
            raise StoreRefused(f"The reader died at {command!r}, {self._death()}")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise StoreRefused(
                f"The reader gave no answer to {command!r}: {redacted(line)[:200].strip()}"
            ) from None
        if "error" in answer:
            raise ERRORS.get(answer.get("kind", ""), StoreRefused)(f"The reader failed: {answer['error']}")
        return answer

    def _death(self) -> str:
        code, lines = self.died()
        how = (
            "still running"
            if code is None
            else f"killed by signal {-code}"
            if code < 0
            else f"exit code {code}"
        )
        return f"{how}: {last(lines, LOG_LINES)}"


def checksum_from(answer: dict[str, Any], schema: Sequence[Field]) -> TableChecksum:
    """Return the checksum in an answer, whose `fields` are hexadecimal in the order of the schema."""
    total = TableChecksum([field.name for field in schema])
    total.rows, total.row_sum = int(answer["rows"]), int(answer["row_sum"], 16)
    total.fields = {field.name: int(value, 16) for field, value in zip(schema, answer["fields"], strict=True)}
    return total
