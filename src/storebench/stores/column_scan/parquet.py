"""The base class of stores with Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storebench.errors import StoreRefused
from storebench.stores.column_scan.files import FileStore
from storebench.stores.column_scan.table import TABLE


class ParquetStore(FileStore):
    """A store with a Parquet file. A sum reads the chunks of its column."""

    packages = ("numpy", "pyarrow", "duckdb")
    modules = (*FileStore.modules, "pyarrow.parquet", "pyarrow.compute", "duckdb")

    def connect(self) -> None:
        super().connect()
        self._path = self._folder / f"{TABLE}.parquet"

    def scanned_files(self) -> Sequence[Path]:
        return [self._path]

    def needed_bytes(self) -> int:
        """Return the bytes of the column's compressed chunks, from the file's footer."""
        metadata = self._metadata()
        place = next(
            (i for i in range(metadata.num_columns) if metadata.schema.column(i).name == self.column), None
        )
        if place is None:
            raise StoreRefused(f"{self._path} has no column {self.column}")
        groups = (metadata.row_group(i).column(place) for i in range(metadata.num_row_groups))
        return sum(chunk.total_compressed_size for chunk in groups)

    def count(self) -> int:
        return int(self._metadata().num_rows)

    def _metadata(self) -> Any:
        import pyarrow.parquet as pq

        return pq.read_metadata(self._path)
