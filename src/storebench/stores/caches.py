"""Prepare cold, lukewarm and hot caches, and prove their state, in the same way for the stores of all studies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from storebench.attempt import disk
from storebench.errors import StorebenchError, StoreRefused, StoreUnreachable, VerificationFailed
from storebench.servers import agent
from storebench.servers.watch import Watch

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt

AGREE_SHARE = 0.05  # the cache is hot if two consecutive passes differ by at most this share
MAX_PASSES = 30
# The least bytes of a judged read, and the largest plausible rate of a disk relative to its uncached rate: a disk reads ahead.
JUDGED_BYTES, TIMES_UNCACHED = 1 << 20, 2.0
# Kubernetes needs some probes to notice that a server stopped or returned, before it routes new connections accordingly.
SETTLE_S, REACHABLE_S, AGAIN_S = 5.0, 60.0, 0.5


@dataclass(frozen=True)
class Cold:
    """Emptied caches.

    `remaining_bytes`: bytes of the data's files in the page cache after emptying. `resident_bytes`: the same when the operation began.
    `needed_bytes`: the least bytes that the operation must read from disk.
    """

    remaining_bytes: int
    resident_bytes: int
    needed_bytes: int

    def report(self, attempt: Attempt, read_bytes: int, seconds: float) -> None:
        """Record the metrics of an operation that read `read_bytes` from disk in `seconds`.

        Mark the attempt as possibly disturbed if the operation read faster than the disk's uncached rate, if the pod knows this rate.
        """
        attempt.metric("resident_before_bytes", self.resident_bytes)
        attempt.metric("needed_bytes", self.needed_bytes)
        if read_bytes < JUDGED_BYTES or seconds <= 0:
            return
        rate = read_bytes / seconds / 1e6
        attempt.metric("cold_read_mb_per_s", rate)
        if (shown := disk.uncached_mb_per_s()) is None:
            return
        attempt.metric("uncached_mb_per_s", shown)
        if rate > TIMES_UNCACHED * shown:
            attempt.possibly_disturbed(
                f"cold for this kernel only: {rate:,.0f} MB per second came from a disk that has shown {shown:,.0f} for data that nobody"
                " had read, so a cache below the kernel may have answered"
            )

    def prove(self, what: str, read_bytes: int) -> str:
        """Return the proof that an operation with `read_bytes` from disk was cold. Raises VerificationFailed if it was not."""
        if self.remaining_bytes or read_bytes < self.needed_bytes:
            raise VerificationFailed(
                f"The {what} was not cold: {self.remaining_bytes:,} bytes of the data stayed in the page cache when it was emptied, and"
                f" {read_bytes:,} came from disk, where it needs {self.needed_bytes:,}"
            )
        return (
            f"cold: page cache emptied, {self.resident_bytes:,} bytes in it before, {read_bytes:,} bytes from disk,"
            f" {self.needed_bytes:,} needed"
        )


@dataclass(frozen=True)
class WarmedUp:
    """Unmeasured passes that fill all caches."""

    passes: int
    agreed: bool

    @classmethod
    def by(cls, one_pass: Callable[[], float]) -> Self:
        """Run passes until two consecutive passes agree. `one_pass`: runs a pass and returns its seconds."""
        last_s = one_pass()
        for number in range(2, MAX_PASSES + 1):
            seconds = one_pass()
            if abs(seconds - last_s) <= AGREE_SHARE * last_s:
                return cls(number, agreed=True)
            last_s = seconds
        return cls(MAX_PASSES, agreed=False)

    def report(self, attempt: Attempt) -> None:
        """Record the metric of the warm-up."""
        attempt.metric("warm_passes", self.passes)

    def disturbances(self) -> list[str]:
        """Return the disturbances of the operation after the warm-up."""
        if self.agreed:
            return []
        return [f"no two of {MAX_PASSES} passes in a row agreed within {AGREE_SHARE:.0%}"]


def reconnect(
    connect: Callable[[], None], passing: tuple[type[StorebenchError], ...] = (StoreUnreachable,)
) -> None:
    """Connect to a restarted server that already answers its agent. Errors of the types `passing` are retried for some time, then raised.

    Raises StoreUnreachable if Kubernetes does not route connections to the server.
    """
    time.sleep(SETTLE_S)
    until_s = time.monotonic() + REACHABLE_S
    while True:
        try:
            return connect()
        except passing:
            if time.monotonic() > until_s:
                raise
            time.sleep(AGAIN_S)


class Servers:
    """The caches of the provisioned servers, which their agents empty and watch. False without such servers."""

    def __init__(self, agents: Sequence[agent.Agent] = ()) -> None:
        self.agents = agents

    @classmethod
    def from_environment(cls) -> Self:
        """Read the servers' agents from this pod's environment."""
        return cls(Watch.from_environment().agents)

    def __bool__(self) -> bool:
        return bool(self.agents)

    def make_cold(self, away: AbstractContextManager[None], needed_bytes: int) -> Cold:
        """Stop all servers, drop their files from the page cache, and start the servers again.

        `away`: closes the connections to the servers, and ends when the servers serve again. Data that the servers read at the start is
        also dropped from the page cache: otherwise the operation would read less than `needed_bytes`.
        """
        with away:
            figures = agent.cold_together(self.agents)
        self._drop()
        remaining_bytes = sum(server.resident_after_drop_bytes for server in figures.values())
        return Cold(remaining_bytes, self._resident_bytes(), needed_bytes)

    def make_lukewarm(self, needed_bytes: int) -> Cold:
        """Drop the servers' files from the page cache. The servers keep running with their own caches."""
        remaining_bytes = self._drop()
        return Cold(remaining_bytes, self._resident_bytes(), needed_bytes)

    def read_bytes(self) -> int:
        """Return the bytes that the servers read from disk so far. Raises StoreRefused if unknown."""
        counts = [server.figures().read_bytes for server in self.agents]
        counted = [count for count in counts if count is not None]
        if len(counted) < len(counts):
            raise StoreRefused(
                "The servers' agents cannot tell what was read from disk, so no read can be proven cold"
            )
        return sum(counted)

    def _drop(self) -> int:
        """Drop the files from the page cache. Return the bytes that stay because processes have mapped them."""
        return sum(server.lukewarm().resident_after_drop_bytes for server in self.agents)

    def _resident_bytes(self) -> int:
        return sum(server.resident().resident_bytes for server in self.agents)
