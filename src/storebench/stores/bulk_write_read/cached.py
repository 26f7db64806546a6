"""Prepare the caches of a read by the run's parameter `cache`: unchanged, emptied or filled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from storebench.attempt.clock import OperationClock
from storebench.errors import SpecError, StoreRefused, unknown
from storebench.stores.caches import Cold, Servers, WarmedUp

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.stores.bulk_write_read.base import TableStore

CACHE = "cache"
AS_IS, COLD, LUKEWARM, HOT = STATES = ("as_is", "cold", "lukewarm", "hot")
EMPTIED = (COLD, LUKEWARM)  # states that the servers' agents prepare


class CachedRead:
    """A read of `store` with the caches in `state`. The methods are called in their order."""

    def __init__(self, store: TableStore, state: str) -> None:
        if state not in STATES:
            raise unknown(CACHE, state, STATES)
        self._store, self._state = store, state
        self._servers = Servers() if state == AS_IS else Servers.from_environment()
        self._emptied: Cold | None = None
        self._warmed_up: WarmedUp | None = None
        self._read_bytes = 0

    def prepare(self) -> None:
        """Prepare the caches. Raises a StorebenchError before any change if the state is impossible."""
        if self._state == HOT:
            self._warmed_up = WarmedUp.by(self._pass_s)
        elif self._state in EMPTIED:
            self._empty()

    @contextmanager
    def watched(self, attempt: Attempt, clock: OperationClock) -> Iterator[None]:
        """Time the read inside the block. Count its bytes from disk, and record the metrics of the state."""
        before = self._so_far()
        yield
        if before is not None:
            self._read_bytes = self._servers.read_bytes() - before
            attempt.metric("disk_read_bytes", self._read_bytes)
        if self._emptied:
            self._emptied.report(attempt, self._read_bytes, clock.operation_s)
        if self._warmed_up:
            self._warmed_up.report(attempt)

    def proof(self) -> str:
        """Return the text about the cache that follows the verification. Raises VerificationFailed for a cold read that was not cold."""
        if self._warmed_up:
            return f"; hot: after {self._warmed_up.passes} passes"
        if self._emptied and self._state == COLD:
            return f"; {self._emptied.prove('read', self._read_bytes)}"
        if self._emptied:
            return f"; lukewarm: {self._emptied.resident_bytes:,} bytes in the page cache before, {self._read_bytes:,} bytes from disk"
        return ""

    def disturbances(self) -> list[str]:
        return self._warmed_up.disturbances() if self._warmed_up else []

    def _empty(self) -> None:
        if not self._servers:
            raise SpecError(
                f"{CACHE}={self._state} needs the agents of servers that the run provisions, and this pod has none"
            )
        self._servers.read_bytes()  # check that the bytes are known
        needed = self._store.needed_bytes()
        if self._state == LUKEWARM:
            self._emptied = self._servers.make_lukewarm(needed)
        else:
            self._emptied = self._servers.make_cold(self._store.away(), needed)

    def _pass_s(self) -> float:
        clock = OperationClock(self._store.cpu_s)
        self._store.read(clock)
        return clock.operation_s

    def _so_far(self) -> int | None:
        """Return the bytes that the servers read from disk so far; None if unknown, which only a cold read refuses."""
        try:
            return self._servers.read_bytes() if self._servers else None
        except StoreRefused:
            if self._state in EMPTIED:
                raise
            return None
