"""The specification of an attempt: one JSON text in the pod's environment, without any secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from storebench.errors import SpecError, unknown
from storebench.grid import Cell
from storebench.stores.base import OPERATIONS

VARIABLE = "STOREBENCH_ATTEMPT"
DROP = "drop"
CPU_LIMIT = "cpu_limit"  # an option of every store: whether the run asked for a CPU limit


@dataclass(frozen=True)
class AttemptSpec:
    """What one pod has to do: `operation` of the cell named by `cell_key`, on the data kept as `target`.

    `operation` is `write`, `read`, or `drop`, which removes the target after both.
    """

    operation: str
    cell_key: str
    target: str
    dataset_bucket: str
    dataset_key: str
    manifest_key: str
    # the store that fills the table of a cell whose own store only reads
    store: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def cell(self) -> Cell:
        return Cell.from_key(self.cell_key)

    @property
    def store_name(self) -> str:
        return self.store or self.cell.store

    @property
    def client(self) -> str:
        """A table that is filled for another store is written as the study wrote it."""
        return "reference" if self.store else self.cell.client

    @property
    def values(self) -> dict[str, str]:
        """What the store is told: the options, and the cell's values on the axes."""
        return {**self.options, **dict(self.cell.axes)}

    @property
    def batch_rows(self) -> int | None:
        """Rows of one write call; None for all at once."""
        batch = self.cell.value("batch")
        return None if batch in (None, "all") else int(batch)

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> AttemptSpec:
        """Parse and check; raises SpecError that says what is wrong."""
        try:
            spec = cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise SpecError(f"{VARIABLE} is not a valid attempt: {error}") from None
        if spec.operation not in (*OPERATIONS, DROP):
            raise unknown("operation", spec.operation, (*OPERATIONS, DROP))
        _ = spec.cell
        return spec
