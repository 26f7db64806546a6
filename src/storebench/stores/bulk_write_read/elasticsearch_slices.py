"""Divide the documents of a point in time into slices, which the parts of a read share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt

MAX_SLICES = 1024  # the default of index.max_slices_per_pit


@dataclass(frozen=True)
class Slices:
    """The slices of one part: `count` slices from the number `first`, out of `total` slices of the leader's point in time `pit`."""

    pit: str
    first: int
    count: int
    total: int

    @classmethod
    def agreed(cls, attempt: Attempt, workers: int, open_pit: Callable[[], str]) -> Slices:
        """Agree on the slices of all parts. `workers`: number of slices that this part reads at the same time. `open_pit`: open a point in time
        and return its id. Only the leader calls `open_pit`, when all parts have asked.
        """
        part = attempt.part
        count = max(1, min(workers, MAX_SLICES // part.count))
        agreed = attempt.agree("slices", count, lambda counts: {"pit": open_pit(), "counts": counts})
        counts = agreed["counts"]
        return cls(agreed["pit"], sum(counts[: part.number]), counts[part.number], sum(counts))

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return the parameter `slice` of a search for the part's slice `number`, from 0."""
        return {"id": self.first + number, "max": self.total}
