"""NumPy in memory. `reference`: an array of rows, as in the study. `tuned`: an array for each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from storebench.attempt.clock import OperationClock
from storebench.stores.base import Durability, Server
from storebench.stores.caches import Cold
from storebench.stores.column_scan import numpy_sum
from storebench.stores.column_scan.base import Columns, ScanStore
from storebench.stores.column_scan.table import RECORD

if TYPE_CHECKING:
    import numpy as np


class NumpyMemory(ScanStore):
    """NumPy in memory. Each pod first fills its memory with `write`, so a cold sum is the first pass of a process without disk reads."""

    name = "numpy-memory"
    clients = ("reference", "tuned")
    keeps_data = False
    figures_cover = "engine"
    holds_the_table = True
    _table: Columns | np.ndarray[Any, Any]  # both types return a column by name

    def describe(self) -> Server:
        import numpy as np

        return Server("NumPy", np.__version__)

    def durability(self) -> Durability:
        return Durability("none", "the data is in the memory of one process")

    def prepare(self, manifest: Mapping[str, Any], prefix: str) -> None:
        self.write(self.columns(manifest, prefix), OperationClock())

    def write(self, columns: Columns, clock: OperationClock) -> None:
        import numpy as np

        with clock.operation():
            if self.client == "reference":
                table = np.empty(self.rows, RECORD)
                for name, values in columns.items():
                    table[name] = values
                self._table = table
            else:
                self._table = {name: values.copy() for name, values in columns.items()}

    def stored_bytes(self) -> int:
        if isinstance(self._table, Mapping):
            return sum(values.nbytes for values in self._table.values())
        return self._table.nbytes

    def make_cold(self) -> Cold:
        return Cold(0, 0, 0)

    def scan(self) -> float:
        return float(self._table[self.column].sum())

    def count(self) -> int:
        return len(self._table[self.column])

    def additions(self) -> int:
        return numpy_sum.additions(self.rows)

    def read_back(self, column: str) -> np.ndarray[Any, Any]:
        """Return a copy of the column."""
        import numpy as np

        values = self._table[column]
        return np.frombuffer(values.tobytes(), values.dtype)

    def drop(self) -> None:
        """Do nothing: the table ends with the process."""
