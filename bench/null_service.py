"""A service that does nothing, for load generators to drive: `python -m bench.null_service STALL_S EVERY_S`.

It answers a POST like the services of the study point_operations after a write, but stores no entity. `GET /count` returns the number of
answered requests. The service listens on 127.0.0.1, prints its port, and ends after LIMIT_S or LIMIT requests. In each EVERY_S it stops for
STALL_S.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time

LIMIT_S, LIMIT = 600.0, 10_000_000
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CREATED = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"


class Service(asyncio.Protocol):
    """A persistent connection. All connections share a counter."""

    answered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._got = transport, b""

    def data_received(self, data: bytes) -> None:
        self._got += data
        while (end := self._got.find(b"\r\n\r\n")) >= 0:
            head = self._got[:end]
            length = LENGTH.search(head)
            request_length = end + 4 + (int(length[1]) if length else 0)
            if len(self._got) < request_length:
                return
            self._got = self._got[request_length:]
            self._transport.write(_answer(head))


def _answer(head: bytes) -> bytes:
    if head.startswith(b"POST "):
        Service.answered += 1
        return CREATED
    body = b"%d" % Service.answered
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def _serve(stall_s: float, every_s: float) -> None:
    server = await asyncio.get_running_loop().create_server(Service, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    until_s = time.monotonic() + LIMIT_S
    while time.monotonic() < until_s and Service.answered < LIMIT:
        await asyncio.sleep(every_s - stall_s)
        time.sleep(stall_s)  # noqa: ASYNC251 - the service must not answer during the stall


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), float(sys.argv[2])))
