"""Verify a table after a fault: wait until the store answers, and compare the whole table with the acknowledged writes."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from storebench.errors import StorebenchError, StoreUnreachable
from storebench.stores.point_operations.check import PROBE, Written, compare_table
from storebench.stores.point_operations.entities import entity

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.stores.point_operations.base import PointStore

MOST_PROBES = 10_000  # of an operation, so that the probes of two operations differ


def wait_until_answers(store: PointStore, attempt: Attempt) -> None:
    """Wait until the store answers a read from all copies and a write at the asked consistency. Each try writes a new probe.

    Raises FaultFailed, StoreUnreachable for a store that has not healed, and an error that is no answer of the store.
    """
    seed = attempt.spec.seed
    probes = count(PROBE + store.operations.index(store.operation) * MOST_PROBES)

    def read_and_write() -> None:
        try:
            store.get_from_all(entity(seed, 0).id)
            store.insert(entity(seed, next(probes)))
        except StorebenchError:
            raise
        except Exception as error:
            store.outcome(error)  # raises an error that is no answer of the store
            raise StoreUnreachable(f"a read and a write failed: {type(error).__name__}: {error}") from error

    attempt.fault.answer(read_and_write, StorebenchError)


def check_healed(store: PointStore, attempt: Attempt, written: Written, promise: str | None) -> str:
    """Compare the whole table with the acknowledged writes after a fault, and record how many are lost or doubled. Return a sentence.

    `promise`: of `Store.promise`. Raises the errors of `wait_until_answers`, BrokenPromise, and VerificationFailed for an entity that
    nobody has written and for wrong fields.
    """
    whole = attempt.fault.caught_up(attempt)
    wait_until_answers(store, attempt)
    found = compare_table(store.scan(), attempt.spec.seed, written)
    said = attempt.fault.judge(attempt, found.lost, found.doubled, promise) + whole
    kept = found.acknowledged - found.lost
    return f"{kept:,} acknowledged entities are there with all their fields{found.unsure_text}; {store.scanned_by()}; {said}"
