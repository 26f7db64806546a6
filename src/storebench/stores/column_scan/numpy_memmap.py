"""NumPy on memory-mapped files. `reference`: one file of rows, as in the study. `tuned`: a file for each column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storebench.stores.base import Server
from storebench.stores.column_scan import numpy_sum, residence
from storebench.stores.column_scan.files import FileStore
from storebench.stores.column_scan.table import BY_NAME, RECORD, ROW_BYTES

if TYPE_CHECKING:
    import numpy as np

    from storebench.attempt.clock import OperationClock
    from storebench.stores.column_scan.base import Columns

ROWS_FILE = "stock.dat"


class NumpyMemmap(FileStore):
    """NumPy on memory-mapped files: a sum maps the file and reads the pages that it touches."""

    name = "numpy-memmap"
    clients = ("reference", "tuned")
    _mapped: np.ndarray[Any, Any] | None = None

    def describe(self) -> Server:
        import numpy as np

        return Server("NumPy", np.__version__)

    @property
    def _by_rows(self) -> bool:
        return self.client == "reference"

    def write(self, columns: Columns, clock: OperationClock) -> None:
        import numpy as np

        with clock.operation():
            if self._by_rows:
                table = np.memmap(self._folder / ROWS_FILE, RECORD, "w+", shape=(self.rows,))
                for name, values in columns.items():
                    table[name] = values
                table.flush()
                del table
            else:
                for name, values in columns.items():
                    np.save(self._path(name), values)
            residence.sync(self._files())

    def scan(self) -> float:
        import numpy as np

        if self._mapped is None:
            if self._by_rows:
                table = np.memmap(self._folder / ROWS_FILE, RECORD, "r", shape=(self.rows,))
                self._mapped = table[self.column]
            else:
                self._mapped = np.load(self._path(self.column), mmap_mode="r")
        return float(self._mapped.sum())

    def count(self) -> int:
        if self._by_rows:
            return (self._folder / ROWS_FILE).stat().st_size // ROW_BYTES
        return len(self.read_back(self.column))

    def additions(self) -> int:
        return numpy_sum.additions(self.rows)

    def read_back(self, column: str) -> np.ndarray[Any, Any]:
        """Read the file instead of mapping it."""
        import numpy as np

        if self._by_rows:
            values: np.ndarray[Any, Any] = np.fromfile(self._folder / ROWS_FILE, RECORD)[column]
            return values
        loaded: np.ndarray[Any, Any] = np.load(self._path(column))
        return loaded

    def scanned_files(self) -> Sequence[Path]:
        return [self._folder / ROWS_FILE if self._by_rows else self._path(self.column)]

    def needed_bytes(self) -> int:
        """Return the bytes that a scan must read: all bytes of a table of rows, since each page has values of the column."""
        return self.rows * (ROW_BYTES if self._by_rows else BY_NAME[self.column].bytes)

    def _path(self, column: str) -> Path:
        return self._folder / f"{column}.npy"
