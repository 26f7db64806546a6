"""Write a table while a server has a fault: send failed batches again, and compare the healed table with the dataset row by row."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from storebench.errors import StorebenchError, VerificationFailed
from storebench.stores.bulk_write_read.row_hashes import RowHashes
from storebench.stores.bulk_write_read.verify import checksum_of
from storebench.stores.lost_rows import Compared, compare_rows

if TYPE_CHECKING:
    from storebench.attempt.clock import OperationClock
    from storebench.attempt.fault import Happened
    from storebench.attempt.run import Attempt
    from storebench.dataset.manifest import Manifest
    from storebench.servers.fault import Fault
    from storebench.stores.bulk_write_read.base import TableStore

AGAIN_FOR_S = 120.0  # seconds for which a failed batch is sent again
PAUSE_S = 0.1  # seconds between two sendings of a batch
CHUNK_ROWS = 10_000  # rows of the dataset whose hashes are computed at once


@dataclass(frozen=True)
class Batch:
    """An acknowledged batch. Its number is its place in the write. Seconds count from the begin of the write."""

    rows: int
    sent_s: float  # the first sending
    acknowledged_s: float
    again: bool  # an earlier sending has failed

    @property
    def time_s(self) -> float:
        """Return the seconds from the first sending to the acknowledgement."""
        return self.acknowledged_s - self.sent_s


class WriteUnderFault:
    """The write of an attempt with a fault."""

    def __init__(self, store: TableStore, attempt: Attempt, fault: Fault) -> None:
        """Called after `prepare`, because the store's guarantee may depend on the target."""
        self._store, self._attempt, self._fault = store, attempt, fault
        self._promise = store.promise(fault.name)
        self._batches: list[Batch] = []
        self._began_s = 0.0

    def write(self, rows: int, clock: OperationClock) -> int:
        """Write the source in batches of `rows` rows, and let the fault begin. Return the number of rows written.

        Raises the error of a batch that has failed for AGAIN_FOR_S.
        """
        self._began_s = time.monotonic()
        self._attempt.fault.at(self._began_s + self._fault.after_s)
        for batch in clock.source(self._store.batches(rows)):
            with clock.operation():
                self._batches.append(self._sent(batch))
        self._attempt.fault.cancel()  # a fault that has begun goes on
        return sum(batch.rows for batch in self._batches)

    def _sent(self, batch: Sequence[Any]) -> Batch:
        """Send a batch until it is acknowledged."""
        sent_s, again = time.monotonic(), False
        while True:
            try:
                if again:
                    self._store.reconnect()
                self._store.send(batch, again=again)
                break
            except StorebenchError as error:
                if time.monotonic() - sent_s > AGAIN_FOR_S:
                    raise
                if not again:
                    print(f"batch {len(self._batches) + 1} is sent again: {error}", flush=True)
                again = True
                time.sleep(PAUSE_S)
        began_s = self._began_s
        return Batch(len(batch), sent_s - began_s, time.monotonic() - began_s, again)

    def heal(self) -> None:
        """Wait until the store answers after the fault. Raises FaultFailed, and StoreUnreachable for a store that has not healed."""
        with self._attempt.phase("heal"):
            self._attempt.fault.answer(self._answer, StorebenchError)

    def _answer(self) -> None:
        """Ask the store for a sign of life, with a new connection if the connection is lost."""
        try:
            self._store.answers()
        except StorebenchError:
            self._store.reconnect()
            self._store.answers()

    def verified(self, manifest: Manifest) -> str:
        """Record the figures of the fault, and compare the table with the dataset. Return the text of the verification.

        Raises BrokenPromise, and VerificationFailed for rows that are not in the dataset.
        """
        attempt, store = self._attempt, self._store
        said = self._reported(attempt.fault.happened().since(self._began_s))
        whole = attempt.fault.caught_up(attempt)
        found = _compared(store, manifest)
        judged = attempt.fault.judge(
            attempt, found.lost, found.doubled, self._promise, "rows", may_double=True
        )
        judged += whole
        if found.first_lost is not None:
            judged += f"; the first lost row is of batch {self._number_of(found.first_lost)}"
        return (
            f"{found.kept:,} of {found.rows:,} acknowledged rows are there with all {len(store.source.fields)} fields by reading back with"
            f" {store.verified_by()}; {said}; {judged}"
        )

    def _reported(self, fault: Happened) -> str:
        """Record the figures of the batches. Return a sentence about them."""
        attempt, again = self._attempt, sum(batch.again for batch in self._batches)
        fault.report(attempt)
        attempt.metric("retried_batches", again)
        if delays_s := delays(self._batches, fault.began_s):
            attempt.metric("unavailable_s", delays_s[0])
            attempt.metric("unavailable_sum_s", delays_s[1])
        ended_s = self._batches[-1].acknowledged_s
        before = f"; the write had ended before, {ended_s - fault.began_s:.1f} s after the fault began"
        return f"{fault.said}{before if ended_s < fault.healed_s else ''}; {again:,} of {len(self._batches):,} batches were sent again"

    def _number_of(self, row: int) -> int:
        """Return the number, from 1, of the batch with a row of the dataset."""
        end = 0
        for number, batch in enumerate(self._batches, start=1):
            end += batch.rows
            if row < end:
                return number
        raise IndexError(row)


def delays(batches: Sequence[Batch], began_s: float) -> tuple[float, float] | None:
    """Return the longest delay and the sum of the delays of the batches that were acknowledged after the fault began, in seconds.

    A batch is delayed if it took longer than each batch before the fault. Its delay is its time without the median of the times before the
    fault. None if no batch was acknowledged before the fault, so that the usual time is unknown. `began_s`: the begin of the fault.
    """
    before = [batch.time_s for batch in batches if batch.acknowledged_s <= began_s]
    if not before:
        return None
    usual_s, most_s = median(before), max(before)
    delayed = [
        batch.time_s - usual_s
        for batch in batches
        if batch.acknowledged_s > began_s and batch.time_s > most_s
    ]
    return max(delayed, default=0.0), sum(delayed)


def _compared(store: TableStore, manifest: Manifest) -> Compared:
    """Compare all rows of the store's table with the dataset's. Raises VerificationFailed."""
    names = store.source.fields
    expected = RowHashes(names)
    for rows in store.source.batches(CHUNK_ROWS):
        expected.update({name: [row[name] for row in rows] for name in names})
    if differences := expected.diff(manifest):
        raise VerificationFailed(f"The dataset differs from its manifest: {'; '.join(differences[:5])}")
    store.checksums = RowHashes
    found = checksum_of(store)
    assert isinstance(found, RowHashes)
    if (counted := store.count()) != found.rows:
        raise VerificationFailed(f"The server counts {counted:,} rows, and has given {found.rows:,}")
    return compare_rows(expected.hashes, found.hashes)
