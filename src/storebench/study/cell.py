"""Cells: the combinations of a grid."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from storebench.errors import SpecError


@dataclass(frozen=True)
class Cell:
    """One combination of a grid. `key` is readable, stable, and names the cell everywhere.

    Example:
        >>> Cell.from_key("bulk_write_read/mongodb/reference/batch=10000/rows=1000/seed=42").axes
        (('batch', '10000'),)
    """

    study: str
    store: str  # with the name of its server where there are several: `mongodb@v8`
    client: str
    axes: tuple[tuple[str, str], ...]  # (axis, value), in the study's order, only where it means something
    rows: int
    seed: int

    @property
    def key(self) -> str:
        axes = [f"{name}={value}" for name, value in self.axes]
        return "/".join(
            [self.study, self.store, self.client, *axes, f"rows={self.rows}", f"seed={self.seed}"]
        )

    @property
    def label(self) -> str:
        """The short name, for a task in the user interface: what differs between the cells of one run."""
        return " ".join([self.store, self.client, *(f"{name}={value}" for name, value in self.axes)])

    @classmethod
    @lru_cache(maxsize=4096)  # rows of the same cell are read again and again
    def from_key(cls, key: str) -> Cell:
        """The cell that `key` names; raises SpecError for a text that is no cell's key."""
        study, store, client, *pairs = key.split("/") if key.count("/") >= 4 else ("",) * 3
        values = [tuple(pair.split("=", 1)) for pair in pairs]
        # Not the ids of several runs, which have slashes, too, and commas between them
        named = all(re.fullmatch("[^=,]+", name) for name in (study, store, client))
        if not named or any(len(pair) != 2 for pair in values):
            raise SpecError(f"{key!r} is not a cell's key")
        axes, numbers = values[:-2], values[-2:]
        if [name for name, _ in numbers] != ["rows", "seed"] or not all(n.isdecimal() for _, n in numbers):
            raise SpecError(f"{key!r} is not a cell's key")
        rows, seed = (int(number) for _, number in numbers)
        return cls(study, store, client, tuple((name, value) for name, value in axes), rows, seed)

    def value(self, name: str) -> str | None:
        """The value on the axis of this name, or None where that axis means nothing for this cell."""
        return dict(self.axes).get(name)

    def target(self, run: str, repeat: int) -> str:
        """The name under which the store keeps this cell's data in one repeat of one run: unique, 63 characters at most."""
        digest = hashlib.sha256(f"{run}\n{self.key}\n{repeat}".encode()).hexdigest()[:16]
        return f"storebench_{re.sub('[-@]', '_', self.store)[:30]}_{digest}"
