"""Delta Lake tables without a JVM: delta-rs, the Python package `deltalake`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from storebench.attempt.clock import OperationClock
from storebench.dataset.manifest import Manifest
from storebench.stores.base import Server, TypicalTime
from storebench.stores.bulk_write_read.base import READ, VERIFY_CHUNK_ROWS, WRITE
from storebench.stores.bulk_write_read.delta import DeltaStore
from storebench.stores.bulk_write_read.delta_shares import deal, only, sizes_of
from storebench.stores.bulk_write_read.maintenance import MAINTAIN

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from storebench.attempt.run import Attempt

# No column statistics: they help readers skip files, and a bulk read skips no file.
TUNED_TABLE = {"delta.dataSkippingNumIndexedCols": "0"}


class DeltaRs(DeltaStore):
    """Delta Lake by delta-rs. A write appends a commit per batch, or overwrites the table with all rows in one commit.

    A commit is a conditional put (If-None-Match) of the log's next file, deltalake's default for S3. It needs no lock, and two writers
    cannot both commit the same version of the table.

    The `reference` client makes a text table of each list of dicts, reopens the table for each batch, and reads the whole table into
    memory. The `tuned` client writes the source's typed tables with cheap Parquet settings to an open table, and streams the read through
    deltalake's own engine.

    Several pods read the files of one version of the table, which pyarrow reads for both clients: deltalake's own engine takes no list of
    files. Writes do not divide: commits of several pods would conflict, and the study's write is one writer's.
    """

    name = "delta-rs"
    operations = (WRITE, MAINTAIN, READ)
    typical = (*DeltaStore.typical, TypicalTime(MAINTAIN, fixed_s=4, million_s=80))
    clients = ("reference", "tuned")
    delivers = ("Arrow", "Arrow")
    divides = (READ,)
    packages = ("deltalake", "pyarrow")
    modules = ("deltalake", "pyarrow.dataset", "storebench.dataset.typed")

    _version: int | None = None  # of the table, for all parts of a divided read
    _share: list[str] | None = None  # this part's files of a divided read

    def describe(self) -> Server:
        """Describe the package, which does the work in this process: the only server is S3."""
        import deltalake

        settings = {"core": deltalake.rust_core_version(), "s3_server": self._s3_server}
        return Server("Delta Lake (delta-rs)", deltalake.__version__, settings)

    def write(self, batch: int | None, clock: OperationClock) -> int:
        with self.table_errors():
            return self._write_tuned(batch, clock) if self.client == "tuned" else self._write(batch, clock)

    def _write(self, batch: int | None, clock: OperationClock) -> int:
        import pyarrow as pa
        from deltalake import write_deltalake

        if batch is None:
            with clock.operation():
                table = pa.Table.from_pylist(list(clock.source(self.source.rows())))
                write_deltalake(self.uri(), table, mode="overwrite", storage_options=self.storage_options)
            return int(table.num_rows)
        rows = 0
        for part in clock.source(self.source.batches(batch)):
            with clock.operation():
                table = pa.Table.from_pylist(part)
                write_deltalake(self.uri(), table, mode="append", storage_options=self.storage_options)
            rows += len(part)
        return rows

    def _write_tuned(self, batch: int | None, clock: OperationClock) -> int:
        from deltalake import ColumnProperties, WriterProperties, write_deltalake

        # Most columns have too many values for a dictionary, and trying one takes half of the write's time.
        plain = ColumnProperties(dictionary_enabled=False, statistics_enabled="NONE")
        properties = WriterProperties(compression="SNAPPY", default_column_properties=plain)
        rows, opened = 0, None
        # All rows at once are one Arrow table, not a stream: deltalake would encode while it waits for the stream's next
        # batch, and this work would count as time of the source.
        for part in clock.source(self.source.tables(batch)):
            with clock.operation():
                if opened is None:
                    write_deltalake(
                        self.uri(),
                        part,
                        mode="overwrite" if batch is None else "append",
                        configuration=TUNED_TABLE,
                        storage_options=self.storage_options,
                        writer_properties=properties,
                    )
                    opened = self.open_table() if batch is not None else None
                else:  # the open table knows its state, so the log is not read again
                    write_deltalake(opened, part, mode="append", writer_properties=properties)
            rows += part.num_rows
        return rows

    def maintain(self) -> None:
        """Compact small files. Without vacuum, the replaced files stay in the bucket; no reader of the current version opens them."""
        with self.table_errors():
            self.open_table().optimize.compact()

    def read(self, clock: OperationClock) -> int:
        self.check_table()
        with self.table_errors(), clock.operation():
            return sum(part.num_rows for part in self._parts())

    def take_share(self, attempt: Attempt, manifest: Manifest) -> None:
        """Take files of the version that the leader finds, outside the timed window."""
        part = attempt.part
        self.check_table()
        with self.table_errors():
            self._version = attempt.agree("version", None, lambda _: self.open_table().version())
            self._share = deal(sizes_of(self._at_version()), part.count)[part.number]

    def _at_version(self) -> DeltaTable:
        from deltalake import DeltaTable

        return DeltaTable(self.uri(), version=self._version, storage_options=self.storage_options)

    def _parts(self) -> Iterator[Any]:
        """Read the table, or this part's files, into Arrow in the client's way, for both the timed read and its second pass."""
        if self._share is not None:
            dataset = only(self._at_version(), self._share)
            if self.client == "tuned":
                yield from dataset.to_batches()
            else:
                yield dataset.to_table()
            return
        table = self.open_table()
        if self.client == "tuned":
            yield from table.scan()
        else:
            yield table.to_pyarrow_table()

    def scan(self) -> Iterator[Mapping[str, Any]]:
        import pyarrow as pa

        from storebench.dataset.typed import canonical

        if self.operation != "read":
            yield from super().scan()
            return
        with self.table_errors():
            for part in self._parts():
                for batch in pa.table(part).to_batches(max_chunksize=VERIFY_CHUNK_ROWS):
                    yield canonical(
                        dict(zip(batch.schema.names, batch.columns, strict=True)), self.source.schema
                    )

    def verified_by(self) -> str:
        if self.operation != "read":
            return super().verified_by()
        if self._share is not None:
            return f"pyarrow FileSystemDataset.{'to_batches' if self.client == 'tuned' else 'to_table'}()"
        return f"delta-rs DeltaTable.{'scan' if self.client == 'tuned' else 'to_pyarrow_table'}()"
