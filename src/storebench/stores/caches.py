"""Cold, lukewarm and hot: how operations come to such caches, and what proves it. The stores of all studies do it in this one way."""

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

AGREE_SHARE = 0.05  # of two passes in a row: then the cache is hot
MAX_PASSES = 30
# A read is judged from this size on. Up to this many times the rate of data that nobody had read, a disk may be: it reads ahead.
JUDGED_BYTES, TIMES_UNCACHED = 1 << 20, 2.0
# Kubernetes notices only after some probes that a server is away, or is back: then it leads new connections elsewhere, or to it.
SETTLE_S, REACHABLE_S, AGAIN_S = 5.0, 60.0, 0.5


@dataclass(frozen=True)
class Cold:
    """Caches that were emptied.

    `left_bytes` of the data's files were still in the page cache after that, and `resident_bytes` when the operation began. The operation
    has to read `needed_bytes` from disk at the least.
    """

    left_bytes: int
    resident_bytes: int
    needed_bytes: int

    def report(self, attempt: Attempt, read_bytes: int, seconds: float) -> None:
        """Record the metrics of an operation that read `read_bytes` from disk in `seconds`.

        Mark the attempt if the operation read faster than the disk reads data that nobody had read, as far as the pod knows that.
        """
        attempt.metric("resident_before_bytes", self.resident_bytes)
        attempt.metric("needed_bytes", self.needed_bytes)
        if read_bytes < JUDGED_BYTES or seconds <= 0:
            return
        rate = read_bytes / seconds / 1e6
        attempt.metric("cold_read_mb_per_s", rate)
        if (shown := disk.told()) is None:
            return
        attempt.metric("uncached_mb_per_s", shown)
        if rate > TIMES_UNCACHED * shown:
            attempt.possibly_disturbed(
                f"cold for this kernel only: {rate:,.0f} MB per second came from a disk that has shown {shown:,.0f} for data that nobody"
                " had read, so a cache below the kernel may have answered"
            )

    def prove(self, what: str, read_bytes: int) -> str:
        """Returns in words why an operation that has read so much from disk was cold; raises VerificationFailed for one that was not."""
        if self.left_bytes or read_bytes < self.needed_bytes:
            raise VerificationFailed(
                f"The {what} was not cold: {self.left_bytes:,} bytes of the data stayed in the page cache when it was emptied, and"
                f" {read_bytes:,} came from disk, where it needs {self.needed_bytes:,}"
            )
        return (
            f"cold: page cache emptied, {self.resident_bytes:,} bytes in it before, {read_bytes:,} bytes from disk,"
            f" {self.needed_bytes:,} needed"
        )


@dataclass(frozen=True)
class WarmedUp:
    """Passes that fill all caches, none of which counts."""

    passes: int
    agreed: bool

    @classmethod
    def by(cls, one_pass: Callable[[], float]) -> Self:
        """Do passes, each of which returns its seconds, until two in a row agree."""
        last_s = one_pass()
        for number in range(2, MAX_PASSES + 1):
            seconds = one_pass()
            if abs(seconds - last_s) <= AGREE_SHARE * last_s:
                return cls(number, agreed=True)
            last_s = seconds
        return cls(MAX_PASSES, agreed=False)

    def report(self, attempt: Attempt) -> None:
        """Record the metric that goes with it."""
        attempt.metric("warm_passes", self.passes)

    def disturbances(self) -> list[str]:
        """Return the disturbances of the operation after the warm-up."""
        if self.agreed:
            return []
        return [f"no two of {MAX_PASSES} passes in a row agreed within {AGREE_SHARE:.0%}"]


def reconnect(
    connect: Callable[[], None], passing: tuple[type[StorebenchError], ...] = (StoreUnreachable,)
) -> None:
    """Connect to a server that answers its agent, after a new start. Raises StoreUnreachable where Kubernetes does not lead to it; what
    `connect` raises of `passing`, only if that stays.
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
    """The caches of the servers that the run has brought, which their agents empty and watch. It is false where there are none."""

    def __init__(self, agents: Sequence[agent.Agent] = ()) -> None:
        self.agents = agents

    @classmethod
    def from_environment(cls) -> Self:
        """Read the servers' agents from this pod's environment."""
        return cls(Watch.from_environment().agents)

    def __bool__(self) -> bool:
        return bool(self.agents)

    def make_cold(self, away: AbstractContextManager[None], needed_bytes: int) -> Cold:
        """Stop all servers, so that they keep nothing, drop their files from the page cache, and start them again. `away` lets go of what
        is connected to them, and ends when they serve again. What they have read until then is dropped, too: else the operation would
        have to read less than it needs.
        """
        with away:
            found = agent.cold_together(self.agents)
        self._drop()
        left = sum(one.resident_after_drop_bytes for one in found.values())
        return Cold(left, self._resident_bytes(), needed_bytes)

    def make_lukewarm(self, needed_bytes: int) -> Cold:
        """Drop their files from the page cache, and leave them running, with all that they keep themselves."""
        left = self._drop()
        return Cold(left, self._resident_bytes(), needed_bytes)

    def read_bytes(self) -> int:
        """Return the bytes that the servers read from disk so far. Raises StoreRefused if unknown."""
        found = [one.figures().read_bytes for one in self.agents]
        counted = [one for one in found if one is not None]
        if len(counted) < len(found):
            raise StoreRefused(
                "The servers' agents cannot tell what was read from disk, so no read can be proven cold"
            )
        return sum(counted)

    def _drop(self) -> int:
        """Returns the bytes that stay in the page cache, as processes have mapped them."""
        return sum(one.lukewarm().resident_after_drop_bytes for one in self.agents)

    def _resident_bytes(self) -> int:
        return sum(one.resident().resident_bytes for one in self.agents)
