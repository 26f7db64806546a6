"""Describe which part of an operation a pod does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """The part of an operation that a pod does. Part 0 is the leader. An undivided operation has one part."""

    number: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Return whether the part is the leader."""
        return self.number == 0

    def share(self, total: int) -> range:
        """Return this part's contiguous share of the numbers below `total`. The shares differ by one number at most."""
        return range(total * self.number // self.count, total * (self.number + 1) // self.count)
