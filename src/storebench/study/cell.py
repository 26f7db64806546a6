"""Cells: the combinations of a grid."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from storebench.errors import SpecError, quoted


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
    axes: tuple[tuple[str, str], ...]  # (axis, value), in the study's order, without axes that do not apply
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
        """Return the short name for tasks in the user interface: the places in which the cells of one run differ."""
        return " ".join([self.store, self.client, *(f"{name}={value}" for name, value in self.axes)])

    @classmethod
    @lru_cache(maxsize=4096)  # many rows of results name the same cell
    def from_key(cls, key: str) -> Cell:
        """Return the cell that `key` names. Raises SpecError for any other text."""
        study, store, client, *pairs = key.split("/") if key.count("/") >= 4 else ("",) * 3
        values = [tuple(pair.split("=", 1)) for pair in pairs]
        # Exclude a list of run ids: it has slashes, too, but commas between the ids
        named = all(re.fullmatch("[^=,]+", name) for name in (study, store, client))
        if not named or any(len(pair) != 2 for pair in values):
            raise SpecError(f"{quoted(key)} is not a cell's key")
        axes, numbers = values[:-2], values[-2:]
        if [name for name, _ in numbers] != ["rows", "seed"] or not all(n.isdecimal() for _, n in numbers):
            raise SpecError(f"{quoted(key)} is not a cell's key")
        rows, seed = (int(number) for _, number in numbers)
        return cls(study, store, client, tuple((name, value) for name, value in axes), rows, seed)

    def value(self, name: str) -> str | None:
        """Return the cell's value on the axis `name`; None if the axis does not apply to this cell."""
        return dict(self.axes).get(name)

    def target(self, run: str, repeat: int) -> str:
        """Return the name under which the store keeps the cell's data of one repeat of a run: unique, at most 63 characters."""
        digest = hashlib.sha256(f"{run}\n{self.key}\n{repeat}".encode()).hexdigest()[:16]
        return f"storebench_{re.sub('[-@]', '_', self.store)[:30]}_{digest}"
