"""Exchange JSON objects over a TCP connection, one object per line."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from storebench import protocol

LINE_BYTES = 64 * 2**20  # a result with histograms and series may have several MB
SHOWN = 80  # bytes to show of a malformed line
# A machine that disappears closes no connection. After about half a minute without an answer, the kernel then ends the connection.
KEEP_ALIVE_S, PROBE_S, PROBES, UNANSWERED_S = 10, 5, 3, 30


class BadLine(ValueError):
    """A line that is too long, or is no JSON object."""


class Lines:
    """A connection that carries JSON objects in both directions. Several threads may send; one thread receives."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEP_ALIVE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNANSWERED_S * 1000)
        self._connection = connection
        self._file = connection.makefile("rb")
        self._sending = threading.Lock()

    def send(self, content: dict[str, Any]) -> None:
        """Send an object. Raises OSError if the connection is lost."""
        line = json.dumps(content, separators=(",", ":")).encode() + b"\n"
        with self._sending:
            self._connection.sendall(line)

    def receive(self, most_bytes: int = LINE_BYTES) -> dict[str, Any] | None:
        """Return the next object; None at the end of the connection.

        `most_bytes`: the longest permitted line. Raises BadLine for a longer line, and for a line that is no JSON object.
        """
        try:
            line = self._file.readline(most_bytes + 1)
        except (OSError, ValueError):  # closed, also by this side
            return None
        if len(line) > most_bytes:
            raise BadLine(f"a line has more than {most_bytes:,} bytes")
        if not line.endswith(b"\n"):
            return None
        try:
            content = protocol.read(line.decode())
        except ValueError:
            raise BadLine(f"a line is no JSON: {line[:SHOWN]!r}") from None
        if not isinstance(content, dict):
            raise BadLine(f"a line is no JSON object: {line[:SHOWN]!r}")
        return content

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield all objects until the end of the connection. Raises BadLine as `receive` does."""
        while (content := self.receive()) is not None:
            yield content

    def within(self, seconds: float | None) -> None:
        """Limit each later wait for the other side to `seconds`; None removes the limit."""
        self._connection.settimeout(seconds)

    def close(self) -> None:
        """Close the connection in both directions, also for processes that inherited the connection."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
