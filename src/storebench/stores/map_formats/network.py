"""Simulate the network between a table and its job: limit standard input and output to a number of bits per second."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import IO

NETWORKS: dict[str, int | None] = {
    "unlimited": None,
    "10mbit": 10_000_000,
}  # bits per second in each direction; None: no limit
PIECES_PER_S = 100


class Link:
    """One direction of a network. Unused capacity is not saved up."""

    def __init__(self, bits_per_s: int) -> None:
        self._bytes_per_s = bits_per_s / 8
        self.piece_bytes = max(1, int(self._bytes_per_s / PIECES_PER_S))
        self._late_s = 0.0  # seconds that the last sleep was too long; the next sleep is shorter by this

    def passes(self, size: int) -> None:
        """Wait until `size` further bytes have passed."""
        now_s = time.perf_counter()
        passed_s = now_s - self._late_s + size / self._bytes_per_s
        time.sleep(max(0.0, passed_s - now_s))
        self._late_s = time.perf_counter() - passed_s


def feed(stdin: IO[bytes], data: bytes, bits_per_s: int | None) -> None:
    """Write a job's input, and close it."""
    with suppress(BrokenPipeError):  # a failed job stops reading, and reports its error
        if bits_per_s is None:
            stdin.write(data)
        else:
            link, view = Link(bits_per_s), memoryview(data)
            for at in range(0, len(data), link.piece_bytes):
                piece = view[at : at + link.piece_bytes]
                link.passes(len(piece))
                stdin.write(piece)
                stdin.flush()
    with suppress(BrokenPipeError):
        stdin.close()


def taken(stdout: IO[bytes], bits_per_s: int | None) -> bytes:
    """Return the output of a job."""
    if bits_per_s is None:
        return stdout.read()
    link, pieces = Link(bits_per_s), []
    while piece := stdout.read1(link.piece_bytes):  # type: ignore[attr-defined]  # buffered readers have it
        link.passes(len(piece))
        pieces.append(piece)
    return b"".join(pieces)
