"""Compare a table with its expected rows after a fault: count lost and doubled rows by the hash of each whole row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from storebench.errors import VerificationFailed

if TYPE_CHECKING:
    from storebench.dataset.checksum import U64


@dataclass(frozen=True)
class Compared:
    """The comparison of a table with its expected rows. `first_lost`: the number of the first lost row, from 0; None without a loss."""

    rows: int
    lost: int
    doubled: int
    first_lost: int | None

    @property
    def kept(self) -> int:
        """Return the number of expected rows that are there."""
        return self.rows - self.lost


def compare_rows(expected: U64, found: U64) -> Compared:
    """Count lost and doubled rows. `expected`: the hash of each row, in the rows' order. `found`: the hashes of the table's rows in any order.

    Equal rows may be expected several times. Raises VerificationFailed for rows that are not expected, such as rows with a changed field.
    """
    rows, meant = np.unique(expected, return_counts=True)
    seen, counts = np.unique(found, return_counts=True)
    known = np.isin(seen, rows)
    if unknown := int(counts[~known].sum()):
        raise VerificationFailed(
            f"{unknown:,} rows of the table are not those that were written: fields have changed, or nobody has written them"
        )
    there = np.zeros(len(rows), dtype=np.int64)
    there[np.searchsorted(rows, seen)] = counts
    missing, more = np.maximum(meant - there, 0), np.maximum(there - meant, 0)
    lost = int(missing.sum())
    first = int(np.isin(expected, rows[missing > 0]).argmax()) if lost else None
    return Compared(len(expected), lost, int(more.sum()), first)
