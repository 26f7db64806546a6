"""The store PyIceberg: Iceberg tables in S3, with an SQL catalog in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from storebench.attempt.clock import OperationClock
from storebench.stores.base import Pod, Server, TypicalTime
from storebench.stores.bulk_write_read.base import READ
from storebench.stores.bulk_write_read.iceberg import NAMESPACE, TUNED_TABLE, IcebergStore

if TYPE_CHECKING:
    from pyiceberg.table import Table


class PyIceberg(IcebergStore):
    """Iceberg by PyIceberg, in the pod.

    The `reference` client appends a text table of each list of dicts, and reads the whole table into memory. The `tuned` client appends the
    source's typed tables with cheap settings, and streams the read.
    """

    name = "pyiceberg"
    clients = ("reference", "tuned")
    delivers = ("Arrow", "Arrow")
    pod = Pod("iceberg")
    packages = ("pyiceberg", "pyarrow", "sqlalchemy", "psycopg")
    # No pyarrow.fs: it reads the variable of the CA when it is imported, and `connect` sets this variable.
    modules = ("sqlalchemy", "psycopg", "pyarrow", "pyiceberg.catalog", "storebench.dataset.typed")
    # Medians of a run with 20,000 rows
    typical = (TypicalTime("write", fixed_s=8, million_s=92), TypicalTime("read", fixed_s=5, million_s=36))

    _table: Table | None = None

    def describe(self) -> Server:
        """Describe the package, which does the work in this process: S3 and the catalog's PostgreSQL only keep its results."""
        import pyiceberg

        settings = {"catalog": self._catalog_server, "s3_server": self._s3_server}
        return Server("Iceberg (PyIceberg)", pyiceberg.__version__, settings)

    def prepare(self) -> None:
        import pyarrow as pa

        from storebench.dataset.typed import arrow_schema

        super().prepare()
        tuned = self.client == "tuned"
        text = pa.schema([pa.field(name, pa.string()) for name in self.source.fields])
        with self._errors():
            assert self._catalog is not None
            self._catalog.create_namespace_if_not_exists(NAMESPACE)
            self._table = self._catalog.create_table(
                self._identifier,
                schema=arrow_schema(self.source.schema) if tuned else text,
                location=self._place,
                properties=TUNED_TABLE if tuned else {},
            )

    def write(self, batch: int | None, clock: OperationClock) -> int:
        import pyarrow as pa

        assert self._table is not None
        rows = 0
        with self._errors():
            if self.client == "tuned":
                for part in clock.source(self.source.tables(batch)):
                    with clock.operation():
                        self._table.append(part)
                    rows += part.num_rows
                return rows
            if batch is None:
                with clock.operation():
                    table = pa.Table.from_pylist(list(clock.source(self.source.rows())))
                    self._table.append(table)
                return int(table.num_rows)
            for dicts in clock.source(self.source.batches(batch)):
                with clock.operation():
                    self._table.append(pa.Table.from_pylist(dicts))
                rows += len(dicts)
        return rows

    def read(self, clock: OperationClock) -> int:
        with self._errors(), clock.operation():
            return sum(part.num_rows for part in self._parts())

    def _parts(self) -> Iterator[Any]:
        if self._reads_whole:
            yield self._loaded().scan().to_arrow()
        else:
            yield from super()._parts()

    def verified_by(self) -> str:
        return "PyIceberg scan().to_arrow()" if self._reads_whole else super().verified_by()

    @property
    def _reads_whole(self) -> bool:
        """Return whether the read takes the table into memory."""
        return self.operation == READ and self.client == "reference"
