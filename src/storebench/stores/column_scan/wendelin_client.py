"""Run the program wendelin_worker.py beside an attempt, on the Python that can run wendelin.core."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from storebench.errors import StorebenchError, StoreRefused, StoreUnreachable
from storebench.stores.program import Program, last

PYTHON = "STOREBENCH_WENDELIN_PYTHON"
DEFAULT_PYTHON = "/opt/wendelin/bin/python"  # in the image wendelin
WORKER = Path(__file__).with_name("wendelin_worker.py")
FORMAT = "WENDELIN_CORE_ZBLK_FMT"
LOG_LINES = 3  # number of lines of a dead program's output in the error
# An unreadable page of the array ends the process. These names in its last lines mean a lost connection.
LOST = ("ClientDisconnected", "ConnectionRefusedError", "ConnectionResetError")


class WendelinProcess(Program):
    """A process with a client of wendelin.core that writes blocks of the format `block_format`."""

    def __init__(self, block_format: str) -> None:
        """Start the program. Raises StoreRefused if its Python does not exist."""
        python = os.environ.get(PYTHON) or DEFAULT_PYTHON
        try:
            # -I keeps the program's folder out of its path
            super().__init__((python, "-I", str(WORKER)), environment={**os.environ, FORMAT: block_format})
        except OSError as error:
            raise StoreRefused(
                f"The client of wendelin.core cannot be started: {error}. It is in the image wendelin; elsewhere {PYTHON} names its Python"
            ) from error

    def ask(self, command: str, data: bytes = b"", **arguments: Any) -> dict[str, Any]:
        """Return the answer to a command. `data`: bytes sent after the command. Bytes after the answer are its entry `data`. Raises the
        error that the program reports, or the reason of its death."""
        assert self.process.stdin is not None and self.process.stdout is not None
        line, body = b"", b""
        with suppress(BrokenPipeError):
            request = {"command": command, "bytes": len(data), **arguments}
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.write(data)
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._death(command)
        answer: dict[str, Any] = json.loads(line)
        if size := answer.pop("bytes", 0):
            body = self.process.stdout.read(size)
            if len(body) != size:
                raise self._death(command)
        if "error" in answer:
            raise _error(answer["kind"], answer["error"])
        return {**answer, "data": body}

    def _death(self, command: str) -> StorebenchError:
        code, lines = self.died()
        lost = next((line.strip() for line in reversed(lines) if any(words in line for words in LOST)), None)
        if lost:
            return _error("unreachable", lost)
        how = "gave no whole answer" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"ended by {signal.Signals(-code).name}"
        return StoreRefused(f"The client of wendelin.core {how} at {command!r}: {last(lines, LOG_LINES)}")


def _error(kind: str, said: str) -> StorebenchError:
    if kind == "unreachable":
        return StoreUnreachable(f"The ZEO server does not answer: {said}. Is it running, and reachable?")
    if kind == "missing":
        return StoreRefused(f"What was written is not there: {said}")
    return StoreRefused(f"wendelin.core failed: {said}")
