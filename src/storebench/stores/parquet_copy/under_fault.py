"""Copy files while a server has a fault, and count the rows that the copy has lost or doubled."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from storebench.errors import StoreRefused, StoreUnreachable
from storebench.stores.lost_rows import compare_rows
from storebench.stores.parquet_copy.rows import RowHashes, Rows

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.servers.fault import Fault


class CopyUnderFault:
    """The copy of an attempt with a fault. Retries are the client's own. `promise`: of `Store.promise`."""

    def __init__(self, attempt: Attempt, fault: Fault, promise: str | None) -> None:
        self._attempt, self._fault, self._promise = attempt, fault, promise
        self._began_s = self._ended_s = 0.0

    def around(self, copy: Callable[[], None]) -> None:
        """Copy, and let the fault begin meanwhile."""
        self._began_s = time.monotonic()
        self._attempt.fault.at(self._began_s + self._fault.after_s)
        copy()
        self._ended_s = time.monotonic()
        self._attempt.fault.cancel()  # a fault that has begun goes on

    def verified(self, rows: Rows, read_back: Callable[[RowHashes], RowHashes]) -> str:
        """Record the figures of the fault, and compare the copied rows with the generated rows. Return the text of the verification.

        `read_back`: adds the rows of all copied files to a checksum; called again if a file cannot be read yet. Raises FaultFailed,
        StoreUnreachable for a file that stays unreadable, BrokenPromise, and VerificationFailed for rows that nobody has generated.
        """
        attempt = self._attempt
        fault = attempt.fault.happened().since(self._began_s)
        fault.report(attempt)
        whole = attempt.fault.caught_up(attempt)
        expected = rows.added_to(RowHashes(rows.record_bytes))
        copied = attempt.fault.answer(
            lambda: read_back(RowHashes(rows.record_bytes)), (StoreRefused, StoreUnreachable)
        )
        found = compare_rows(expected.hashes, copied.hashes)
        judged = attempt.fault.judge(attempt, found.lost, found.doubled, self._promise, "rows") + whole
        ended_s = self._ended_s - self._began_s
        return (
            f"{found.kept:,} of {found.rows:,} rows are there; {fault.said}, and the copy ended {ended_s - fault.began_s:.1f} s after the begin"
            f" of the fault; {judged}"
        )
