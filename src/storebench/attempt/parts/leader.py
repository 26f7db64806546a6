"""Serve the followers of a divided operation: the TCP server of the leader's pod."""

from __future__ import annotations

import hmac
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from storebench.attempt.parts.clocks import Offset, Ping, estimate
from storebench.attempt.parts.interrupt import Interrupt
from storebench.attempt.parts.lines import BadLine, Lines
from storebench.errors import PartFailed, SpecError

JOIN_BYTES, JOIN_S = 4096, 10.0  # limits of a first line, which may come from a stranger
NAME_CHARACTERS = 253
PINGS, PING_S = 16, 0.1  # at most PINGS round trips, and after PING_S seconds only the first MIN_PINGS
MIN_PINGS = 4


@dataclass
class Member:
    """A follower that has joined."""

    number: int
    pod: str
    node: str
    lines: Lines
    said: dict[str, deque[Any]] = field(default_factory=lambda: defaultdict(deque))
    at_s: dict[int, tuple[float, float]] = field(
        default_factory=dict
    )  # by ping: its clock, and the second of the answer
    pings: int = 0
    done: bool = False  # its result was taken

    def named(self, count: int) -> str:
        """Return the follower's name for an error or a reason. `count`: the number of parts."""
        return f"part {self.number} of {count} (pod {self.pod or 'unknown'}, node {self.node or 'unknown'})"


class Leader:
    """The leader's side of all connections. A follower that fails interrupts the main thread, and ends all followers.

    `count`: the number of parts with the leader. `wait_s`: seconds within which all followers must come.
    """

    def __init__(self, count: int, key: str, wait_s: float, port: int, interrupt: Interrupt) -> None:
        self.count, self._key, self._wait_s, self._interrupt = count, key, wait_s, interrupt
        self._came = threading.Condition()
        self._members: dict[int, Member] = {}
        self._deadline_s = time.monotonic() + wait_s
        try:
            self._server = _listen(port)
        except OSError as error:
            raise SpecError(f"The leader cannot listen on port {port} for the other parts: {error}") from None
        threading.Thread(target=self._accept, name="parts", daemon=True).start()

    def members(self) -> list[Member]:
        """Return all followers in the order of their numbers. Waits until all have come. Raises PartFailed if some do not come."""
        with self._came:
            while missing := [n for n in range(1, self.count) if n not in self._members]:
                self._interrupt.check()
                left_s = self._deadline_s - time.monotonic()
                if left_s <= 0:
                    numbers = ", ".join(map(str, missing))
                    raise PartFailed(
                        f"{'Part' if len(missing) == 1 else 'Parts'} {numbers} of {self.count} did not come within {self._wait_s:g} s"
                    )
                self._came.wait(left_s)
            return [self._members[n] for n in range(1, self.count)]

    def collect(self, name: str) -> list[Any]:
        """Return the values that the followers said for the step `name`, in the order of their numbers. Waits for all."""
        members = self.members()
        with self._came:
            while not all(member.said[name] for member in members):
                self._interrupt.check()
                self._came.wait()
            return [member.said[name].popleft() for member in members]

    def answer(self, member: Member, name: str, value: Any) -> None:
        """Send a follower the answer to the step `name`. The loss of the connection is the reader thread's matter."""
        with suppress(OSError):
            member.lines.send({"answer": name, "value": value})

    def offset(self, member: Member) -> Offset:
        """Measure a follower's clock by several pings."""
        return estimate(self._pings(member))

    def dismiss(self) -> None:
        """Tell all followers that their results were taken. They may then end."""
        for member in self.members():
            member.done = True  # before the answer, after which the follower closes its connection
            self.answer(member, "result", None)

    def spare(self, name: str) -> None:
        """Answer the step `name` with None to the followers that have come, and let them end. Later followers find no leader."""
        self._server.close()
        with self._came:
            members = list(self._members.values())
        for member in members:
            member.done = True
            self.answer(member, name, None)
            self.answer(member, "result", None)

    def close(self, failed: dict[str, str] | None = None) -> None:
        """Close all connections. `failed`: kind and text of the error that ends the attempt, for followers that still work."""
        self._server.close()
        with self._came:
            members = list(self._members.values())
        for member in members:
            if failed and not member.done:
                with suppress(OSError):
                    member.lines.within(1.0)
                    member.lines.send({"failed": failed})
            member.lines.close()

    def _pings(self, member: Member) -> Iterator[Ping]:
        began_s = time.monotonic()
        for n in range(PINGS):
            if n >= MIN_PINGS and time.monotonic() - began_s > PING_S:
                return
            member.pings += 1
            number, sent_s = member.pings, time.monotonic()
            with suppress(OSError):
                member.lines.send({"clock": number})
            with self._came:
                while number not in member.at_s:
                    self._interrupt.check()
                    self._came.wait()
                at_s, received_s = member.at_s.pop(number)
            yield Ping(sent_s, received_s, at_s)

    def _accept(self) -> None:
        while True:
            try:
                connection, address = self._server.accept()
            except OSError:  # closed
                return
            threading.Thread(
                target=self._serve, args=(Lines(connection), address[0]), name="part", daemon=True
            ).start()

    def _serve(self, lines: Lines, address: str) -> None:
        try:
            member = self._joined(lines)
        except (BadLine, SpecError) as error:
            print(f"parts: refused {address}: {error}", flush=True)
            with suppress(OSError):
                lines.send({"failed": {"error_kind": SpecError.kind, "error": str(error)}})
            lines.close()
            return
        print(f"parts: {member.named(self.count)} has come", flush=True)
        try:
            for line in lines:
                self._take(member, line)
            reason = "ended without a reason: its pod or its node died, or the network lost the connection"
        except BadLine as error:
            reason = f"sent what the protocol does not know: {error}"
        except PartFailed as error:
            reason = str(error)
        if not member.done:
            self._fail(PartFailed(f"{member.named(self.count)} {reason}"))

    def _fail(self, error: PartFailed) -> None:
        if self._interrupt.fire(error):
            with self._came:
                self._came.notify_all()
            self.close({"error_kind": error.kind, "error": str(error)})

    def _joined(self, lines: Lines) -> Member:
        """Read a follower's first line. Raises SpecError if the line is no follower's."""
        lines.within(JOIN_S)
        first = lines.receive(JOIN_BYTES) or {}
        if not hmac.compare_digest(str(first.get("key", "")).encode(errors="replace"), self._key.encode()):
            raise SpecError("the key is wrong")
        number, pod, node = first.get("part"), first.get("pod") or "", first.get("node") or ""
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < self.count:
            raise SpecError(f"there is no part {number!r}: the parts are 1 to {self.count - 1}")
        member = Member(number, str(pod)[:NAME_CHARACTERS], str(node)[:NAME_CHARACTERS], lines)
        lines.within(None)
        with self._came:
            if number in self._members:
                raise SpecError(f"part {number} has come already")
            self._members[number] = member
            self._came.notify_all()
        return member

    def _take(self, member: Member, line: dict[str, Any]) -> None:
        """Record a follower's line. Raises PartFailed if the follower has failed, and BadLine for an unknown line."""
        now_s = time.monotonic()
        if isinstance(failed := line.get("failed"), dict):
            raise PartFailed(f"failed ({failed.get('error_kind')}): {failed.get('error')}")
        with self._came:
            if isinstance(name := line.get("say"), str):
                member.said[name].append(line.get("value"))
            elif isinstance(number := line.get("clock"), int) and isinstance(line.get("at_s"), int | float):
                member.at_s[number] = float(line["at_s"]), now_s
            else:
                raise BadLine(f"a line with {', '.join(map(repr, line)) or 'nothing'}")
            self._came.notify_all()


def _listen(port: int) -> socket.socket:
    """Return a server socket on all of the pod's addresses, IPv6 and IPv4."""
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
    return socket.create_server(("", port), backlog=1024)
