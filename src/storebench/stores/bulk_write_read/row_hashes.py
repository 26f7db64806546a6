"""Keep the hash of each row of a table, beside the table's checksum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from storebench.dataset.checksum import TableChecksum

if TYPE_CHECKING:
    from storebench.dataset.checksum import U64


class RowHashes(TableChecksum):
    """A table's checksum that also keeps the hash of each row: 8 bytes a row."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self._parts: list[U64] = []

    def add_rows(self, combined: U64) -> None:
        super().add_rows(combined)  # turns `combined` into the hashes
        self._parts.append(combined)

    def add(self, other: TableChecksum) -> None:
        super().add(other)
        assert isinstance(other, RowHashes)
        self._parts += other._parts

    @property
    def hashes(self) -> U64:
        """Return the hash of each row, in the order in which the rows were added."""
        return np.concatenate(self._parts) if self._parts else np.empty(0, dtype=np.uint64)
