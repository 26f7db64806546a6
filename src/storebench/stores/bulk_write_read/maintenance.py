"""Maintain a written table before it is read: time the store's own maintenance, and verify the table after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from storebench.attempt.clock import OperationClock
from storebench.errors import VerificationFailed
from storebench.stores.bulk_write_read.verify import verify

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.stores.bulk_write_read.base import TableStore

MAINTAIN = "maintain"
FILES = ("files_before", "files_after")  # the metrics that a store which has no count of files lacks


def operate(store: TableStore, attempt: Attempt) -> str:
    """Maintain the store's table, and verify the whole as after a write. Return the text of the verification.

    The barrier of a write follows the maintenance, and belongs to `maintain_s`: the next pod reads what has been maintained. Raises
    VerificationFailed for a table that differs from the dataset, or has more files than before.
    """
    with attempt.phase("prepare"):
        manifest = store.source.manifest()
        before = store.files()
    clock = OperationClock(store.cpu_s)
    try:
        with attempt.measuring(clock):
            with attempt.operation(), clock.operation():
                store.maintain()
            with attempt.phase("barrier"):
                store.barrier()
    finally:
        attempt.metric("maintain_s", clock.operation_s + attempt.seconds_in("barrier"))
    with attempt.phase("verify"):
        after = store.files()
        if before is not None and after is not None:
            for name, count in zip(FILES, (before, after), strict=True):
                attempt.metric(name, count)
            if after > before:
                raise VerificationFailed(f"The maintenance has made {after:,} files of {before:,}")
        verified = verify(store, None, manifest)
    with attempt.phase("teardown"):
        attempt.result.data_bytes = store.size_bytes()
    return verified
