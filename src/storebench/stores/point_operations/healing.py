"""Verify a table after a fault: wait until the store answers, and compare the whole table with the acknowledged writes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from storebench.errors import StorebenchError, StoreUnreachable
from storebench.stores.point_operations.check import PROBE, Written, compare_table
from storebench.stores.point_operations.entities import entity

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.stores.point_operations.base import PointStore

HEALED_WITHIN_S = 120.0
PAUSE_S = 0.2  # seconds between two probes
MOST_PROBES = 10_000


def wait_until_answers(store: PointStore, seed: int) -> None:
    """Wait until the store answers a read from all copies and a write at the asked consistency. The write is of a new probe.

    Raises StoreUnreachable after HEALED_WITHIN_S.
    """
    first = PROBE + store.operations.index(store.operation) * MOST_PROBES
    until_s = time.monotonic() + HEALED_WITHIN_S
    for probe in range(first, first + MOST_PROBES):
        try:
            store.get_from_all(entity(seed, 0).id)
            store.insert(entity(seed, probe))
            return
        except Exception as error:
            if not isinstance(error, StorebenchError):
                store.outcome(error)  # raises an error that is no answer of the store
            if time.monotonic() > until_s:
                raise StoreUnreachable(
                    f"The store did not answer a read and a write within {HEALED_WITHIN_S:.0f} s after the fault: {error}"
                ) from error
        time.sleep(PAUSE_S)


def check_healed(store: PointStore, attempt: Attempt, written: Written, promise: str | None) -> str:
    """Compare the whole table with the acknowledged writes after a fault, and record how many are lost or doubled. Return a sentence.

    `promise`: of `Store.promise`. Raises BrokenPromise, and VerificationFailed for an entity that nobody has
    written and for wrong fields.
    """
    seed = attempt.spec.seed
    whole = attempt.fault.caught_up(attempt)
    wait_until_answers(store, seed)
    found = compare_table(store.scan(), seed, written)
    attempt.metric("lost_acknowledged", found.lost)
    attempt.metric("doubled", found.doubled)
    said = attempt.fault.judged(found.lost, found.doubled, promise) + whole
    kept = found.acknowledged - found.lost
    return f"{kept:,} acknowledged entities are there with all their fields{found.unsure_text}; {store.scanned_by()}; {said}"
