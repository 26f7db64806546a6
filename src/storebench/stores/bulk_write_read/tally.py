"""Add up what the parts of a divided operation did, for the verification of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from storebench.dataset.checksum import TableChecksum


@dataclass(frozen=True)
class Tally:
    """Count the rows of one part, or of all parts. `rows`: number of rows written or seen. `seen`: the checksum of the rows of the second pass of a divided
    read; None for a write and for an undivided read, whose rows are verified as a whole."""

    rows: int
    seen: TableChecksum | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the tally as a JSON object."""
        return {"rows": self.rows, "seen": self.seen.to_json() if self.seen else None}

    @classmethod
    def total(cls, tallies: Sequence[Mapping[str, Any]]) -> Self:
        """Return the sum of the tallies of all parts, as `to_json` made them."""
        rows = sum(tally["rows"] for tally in tallies)
        if tallies[0]["seen"] is None:
            return cls(rows)
        seen, *others = [TableChecksum.from_json(tally["seen"]) for tally in tallies]
        for other in others:
            seen.add(other)
        return cls(rows, seen)
