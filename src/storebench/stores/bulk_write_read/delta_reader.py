"""Stores that only read Delta tables, in a Java program beside this one (images/jvm/reader)."""

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
from storebench.stores.base import Pod, Server
from storebench.stores.bulk_write_read.delta import DeltaStore
from storebench.stores.program import Program, last

CLASSPATH = "STOREBENCH_READER_CLASSPATH"
DEFAULT_CLASSPATH = "/opt/reader/*"
JAVA = (
    "java",
    "-XX:MaxRAMPercentage=50",  # of the container's memory: the rest is for Python, S3A's buffers and the JVM itself
    # By default the JVM prints its own messages on stdout, where the answers are.
    "-XX:+DisplayVMOutputToStderr",
    "-Xlog:disable",
    "-Xlog:all=warning:stderr",
    "-Duser.timezone=UTC",  # Delta Standalone reads timestamps in the JVM's own zone
    "-classpath",
)
MAIN = "storebench.reader.Main"
LOG_LINES = 5  # how much of a dead program's output goes into the error
ERRORS: dict[str, type[StorebenchError]] = {"unreachable": StoreUnreachable, "mismatch": VerificationFailed}


class DeltaReader(DeltaStore):
    """Reads a table that `filled_by` has written; `name` is what the program knows the library by.

    The program starts in `connect`: starting Java and loading the S3 client are no part of the operation. Opening the
    table's log, planning and the loop over all values are.
    """

    operations = ("read",)
    filled_by = "delta-spark"
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
        """The library, as it names itself, and the Java that it runs on."""
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
        """Computed by the program, from a second pass of the loop that `read` times."""
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
    """The Java program: one JSON object a line to its stdin, one line from its stdout in answer.

    Credentials reach it through stdin: neither its command line nor its environment has them.
    """

    def __init__(self, command: tuple[str, ...] | None = None, options: tuple[str, ...] = ()) -> None:
        """`options` are the JVM's. Raises StoreRefused where there is no Java."""
        if command is None:
            command = (*JAVA[:1], *options, *JAVA[1:], os.environ.get(CLASSPATH) or DEFAULT_CLASSPATH, MAIN)
        try:
            super().__init__(command, encoding="utf-8")
        except OSError as error:
            raise StoreRefused(f"The reader cannot be started: {error}") from error

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a command. Raises what the program says went wrong, StoreRefused where it died."""
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
    """The checksum in an answer: `fields` in the order of the schema, hexadecimal."""
    total = TableChecksum([field.name for field in schema])
    total.rows, total.row_sum = int(answer["rows"]), int(answer["row_sum"], 16)
    total.fields = {field.name: int(value, 16) for field, value in zip(schema, answer["fields"], strict=True)}
    return total
