"""The store Parquet: plain files in S3 without a table format, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from storebench.attempt.clock import OperationClock
from storebench.connection import tls
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.stores.base import Durability, Server, TypicalTime
from storebench.stores.bulk_write_read import arrow
from storebench.stores.bulk_write_read.base import VERIFY_CHUNK_ROWS
from storebench.stores.bulk_write_read.s3_table import S3Table
from storebench.stores.pyarrow_s3 import file_system

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem

SUFFIX = ".parquet"
# Most columns have too many values for a dictionary, and a bulk read skips no row group by statistics.
TUNED_FILE = {"compression": "snappy", "use_dictionary": False, "write_statistics": False}


class Parquet(S3Table):
    """Parquet files in a folder of S3, a file per write call.

    The `reference` client makes a text table of each list of dicts, and reads the folder into one table. The `tuned` client writes the
    source's typed tables with cheap settings, and reads one row group at a time, its columns on all cores.
    """

    name = "parquet"
    clients = ("reference", "tuned")
    delivers = ("Arrow", "Arrow")
    packages = ("pyarrow",)
    modules = ("pyarrow.dataset", "pyarrow.parquet", "pyarrow.fs", "storebench.dataset.typed")
    # Medians of a run with 20,000 rows
    typical = (TypicalTime("write", fixed_s=6, million_s=107), TypicalTime("read", fixed_s=4, million_s=28))

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        return arrow.too_fine(schema, "the tuned client")

    def describe(self) -> Server:
        """Describe the package, which does the work in this process: the only server is S3."""
        import pyarrow as pa

        return Server("Parquet (pyarrow)", pa.__version__, {"s3_server": self._s3_server})

    def durability(self) -> Durability:
        return Durability("s3", "each file is an acknowledged upload")

    def write(self, batch: int | None, clock: OperationClock) -> int:
        with self._errors():
            return self._write_tuned(batch, clock) if self.client == "tuned" else self._write(batch, clock)

    def _write(self, batch: int | None, clock: OperationClock) -> int:
        import pyarrow as pa
        from pyarrow import parquet as pq

        rows = 0
        if batch is None:
            with clock.operation():
                table = pa.Table.from_pylist(list(clock.source(self.source.rows())))
                pq.write_table(table, self._path(0), filesystem=self._s3)
            return int(table.num_rows)
        for number, part in enumerate(clock.source(self.source.batches(batch))):
            with clock.operation():
                table = pa.Table.from_pylist(part)
                pq.write_table(table, self._path(number), filesystem=self._s3)
            rows += len(part)
        return rows

    def _write_tuned(self, batch: int | None, clock: OperationClock) -> int:
        from pyarrow import parquet as pq

        rows = 0
        for number, part in enumerate(clock.source(self.source.tables(batch))):
            with clock.operation():
                pq.write_table(part, self._path(number), filesystem=self._s3, **TUNED_FILE)
            rows += part.num_rows
        return rows

    def read(self, clock: OperationClock) -> int:
        with self._errors(), clock.operation():
            return sum(part.num_rows for part in self._parts())

    def _parts(self) -> Iterator[Any]:
        """Read the files into Arrow in the client's way, for both the timed read and its second pass."""
        from pyarrow import parquet as pq

        if self.client == "tuned":
            for path in self._paths():
                with pq.ParquetFile(path, filesystem=self._s3, pre_buffer=True) as file:
                    for number in range(file.num_row_groups):  # each is read to its end: nothing reads ahead
                        yield file.read_row_group(number)
        else:
            yield pq.read_table(f"{self.source.bucket}/{self.key}", filesystem=self._s3)

    def count(self) -> int:
        """Count the rows of all files by their footers."""
        from pyarrow import parquet as pq

        with self._errors():
            return sum(pq.read_metadata(path, filesystem=self._s3).num_rows for path in self._paths())

    def scan(self) -> Iterator[Mapping[str, Any]]:
        from pyarrow import parquet as pq

        with self._errors():
            if self.operation == "read":
                for part in self._parts():
                    yield from arrow.chunks(part, self.source.schema)
                return
            for path in self._paths():
                with pq.ParquetFile(path, filesystem=self._s3, pre_buffer=False) as file:
                    for batch in file.iter_batches(VERIFY_CHUNK_ROWS):
                        yield from arrow.chunks(batch, self.source.schema)

    def verified_by(self) -> str:
        if self.operation != "read":
            return "pyarrow ParquetFile.iter_batches()"
        return f"pyarrow {'ParquetFile.read_row_group' if self.client == 'tuned' else 'parquet.read_table'}()"

    def _path(self, number: int) -> str:
        """Return the path of a write call's file. The names sort in the order of the calls."""
        return f"{self.source.bucket}/{self.key}/{number:08}{SUFFIX}"

    def _paths(self) -> list[str]:
        """Return the paths of all files. Raises StoreRefused if there is none."""
        names = self._files.entries(self.key)
        if not names:
            raise StoreRefused(
                f"There are no files below s3://{self.source.bucket}/{self.key}: they were never written, or they were removed"
            )
        return [f"{self.source.bucket}/{self.key}/{name}" for name in sorted(names)]

    @cached_property
    def _s3(self) -> S3FileSystem:
        assert self.server is not None
        return file_system(self.server)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn pyarrow's errors into StoreUnreachable or StoreRefused."""
        from pyarrow import ArrowException

        where = f"s3://{self.source.bucket}/{self.key}"
        try:
            yield
        except (OSError, ArrowException) as error:
            said = " ".join(str(error).split())
            if "NETWORK_CONNECTION" in said:
                more = self.server and tls.advice(said, self.server)
                raise StoreUnreachable(
                    f"S3 stopped answering at {where}: {said}{more or '. Is it running, and reachable?'}"
                ) from error
            raise StoreRefused(f"pyarrow failed at {where}: {said}") from error
