"""Follow the leader of a divided operation: the TCP client of each other pod."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import Any

from storebench.attempt.parts.interrupt import Interrupt
from storebench.attempt.parts.lines import BadLine, Lines
from storebench.attempt.parts.part import Part
from storebench.errors import PartFailed

RETRY_S = 0.2
CONNECT_S = 5.0  # the longest wait for one try to connect


class Follower:
    """A follower's side of the connection. The loss of the connection interrupts the main thread.

    `join`: the first line. `wait_s`: seconds within which the leader must answer.
    """

    def __init__(
        self,
        part: Part,
        host: str,
        port: int,
        join: dict[str, Any],
        wait_s: float,
        interrupt: Interrupt,
    ) -> None:
        self._interrupt = interrupt
        self._leader = f"the leader of part {part.number} of {part.count} ({host})"
        self._came = threading.Condition()
        self._answers: dict[str, Any] = {}
        self._done = False
        self._lines = Lines(self._connected(host, port, wait_s))
        self._send(join)
        threading.Thread(target=self._read, name="leader", daemon=True).start()

    def ask(self, name: str, value: Any) -> Any:
        """Say `value` for the step `name`, and return the leader's answer. Raises PartFailed if the leader ends."""
        self._send({"say": name, "value": value})
        with self._came:
            while name not in self._answers:
                self._interrupt.check()
                self._came.wait()
            return self._answers.pop(name)

    def close(self, failed: dict[str, str] | None = None) -> None:
        """Close the connection. `failed`: kind and text of this part's error, for the leader."""
        if failed and not self._interrupt.fired:
            with suppress(OSError):
                self._lines.send({"failed": failed})
        self._lines.close()

    def _send(self, content: dict[str, Any]) -> None:
        """Send a line. The reader thread sees a lost connection, and tells the reason."""
        with suppress(OSError):
            self._lines.send(content)

    def _connected(self, host: str, port: int, wait_s: float) -> socket.socket:
        deadline_s = time.monotonic() + wait_s
        while True:
            try:
                connection = socket.create_connection((host, port), CONNECT_S)
            except OSError as error:
                if time.monotonic() > deadline_s:
                    raise PartFailed(
                        f"{self._leader} did not answer on port {port} within {wait_s:g} s: {error}"
                    ) from None
                time.sleep(RETRY_S)
                continue
            connection.settimeout(None)
            return connection

    def _read(self) -> None:
        try:
            for line in self._lines:
                self._take(line)
            reason = "ended without a reason: its pod or its node died, or the network lost the connection"
        except BadLine as error:
            reason = f"sent what the protocol does not know: {error}"
        except PartFailed as error:
            reason = str(error)
        if not self._done and self._interrupt.fire(PartFailed(f"{self._leader} {reason}")):
            with self._came:
                self._came.notify_all()

    def _take(self, line: dict[str, Any]) -> None:
        if isinstance(number := line.get("clock"), int):
            self._send({"clock": number, "at_s": time.monotonic()})
        elif isinstance(failed := line.get("failed"), dict):
            raise PartFailed(f"failed ({failed.get('error_kind')}): {failed.get('error')}")
        elif isinstance(name := line.get("answer"), str):
            with self._came:
                self._done = self._done or name == "result"
                self._answers[name] = line.get("value")
                self._came.notify_all()
        else:
            raise BadLine(f"a line with {', '.join(map(repr, line)) or 'nothing'}")
