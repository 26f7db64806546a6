"""The store chDB: the engine of ClickHouse in the pod, with a MergeTree table on the cell's volume."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from storebench.attempt.clock import OperationClock
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused
from storebench.stores.base import Durability, Pod, Server, TypicalTime
from storebench.stores.bulk_write_read import arrow
from storebench.stores.bulk_write_read.base import READ, WRITE, before
from storebench.stores.bulk_write_read.maintenance import MAINTAIN
from storebench.stores.bulk_write_read.volume_table import FOLDER, FULL, VolumeTable

TABLE = "default.data"
FIRST_DAY, LAST_DAY = "1900-01-01", "2299-12-31"  # of ClickHouse's Date32 and DateTime64
DIGITS = 10
SETTINGS = ("max_threads", "max_insert_threads", "max_memory_usage")
# Without these settings an acknowledged insert may only be in memory.
SYNCED = "fsync_after_insert = 1, fsync_part_directory = 1"
TYPES = {
    "integer": "Int64",
    "float": "Float64",
    "boolean": "Bool",
    "date": "Date32",
    "timestamp": "DateTime64(6, 'UTC')",
    "string": "String",
}


class ChDB(VolumeTable):
    """chDB in the pod. Each write call is an insert that is on disk when it returns. The barrier closes the session.

    The `reference` client makes a text table of each list of dicts, and reads the table into one Arrow table. The `tuned` client inserts the
    source's typed tables, and streams Arrow.
    """

    name = "chdb"
    operations = (WRITE, MAINTAIN, READ)
    clients = ("reference", "tuned")
    delivers = ("Arrow", "Arrow")
    pod = Pod("chdb", volume=FOLDER)
    packages = ("chdb", "pyarrow")
    modules = ("chdb.session", "pyarrow", "storebench.dataset.typed")
    # Medians of a run with 20,000 rows
    typical = (
        TypicalTime("write", fixed_s=13, million_s=69),
        TypicalTime(MAINTAIN, fixed_s=4, million_s=30),
        TypicalTime("read", fixed_s=4, million_s=23),
    )

    _session: Any = None

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        for field in schema:
            if before(field, FIRST_DAY) or (field.latest and field.latest[:10] > LAST_DAY):
                return (
                    f"the column {field.name!r} has dates or timestamps outside the years 1900 to 2299, ClickHouse's range."
                    " Make them text"
                )
        return arrow.too_fine(schema, "the tuned client")

    def connect(self) -> None:
        self.check_written()

    def describe(self) -> Server:
        """Describe the engine. A process has one session at a time: `prepare` closes this session, and a read uses it."""
        import chdb

        rows = self._ask(
            f"SELECT name, value FROM system.settings WHERE name IN ({', '.join(map(repr, SETTINGS))})",
            "ArrowTable",
        )
        return Server(
            "ClickHouse (chDB)", str(chdb.engine_version), dict(zip(*rows.to_pydict().values(), strict=True))
        )

    def durability(self) -> Durability:
        return Durability("disk", SYNCED)

    def prepare(self) -> None:
        self.close()
        super().prepare()
        kinds = (_kind(field) if self.client == "tuned" else "String" for field in self.source.schema)
        described = ", ".join(
            f"{_quoted(name)} Nullable({kind})" for name, kind in zip(self.source.fields, kinds, strict=True)
        )
        self._ask(f"CREATE TABLE {TABLE} ({described}) ENGINE = MergeTree ORDER BY tuple() SETTINGS {SYNCED}")

    def write(self, batch: int | None, clock: OperationClock) -> int:
        import pyarrow as pa

        rows = 0
        if self.client == "tuned":
            for part in clock.source(self.source.tables(batch)):
                with clock.operation():
                    self._insert(part)
                rows += part.num_rows
            return rows
        if batch is None:
            with clock.operation():
                table = pa.Table.from_pylist(list(clock.source(self.source.rows())))
                self._insert(table)
            return int(table.num_rows)
        for dicts in clock.source(self.source.batches(batch)):
            with clock.operation():
                self._insert(pa.Table.from_pylist(dicts))
            rows += len(dicts)
        return rows

    def _insert(self, part: Any) -> None:
        """Insert an Arrow table. The engine finds it as the variable `part` of this function."""
        with self._errors():
            self._opened().query(f"INSERT INTO {TABLE} SELECT * FROM Python(part)")

    def barrier(self) -> None:
        """Close the session, so that another process can open the folder."""
        self.close()
        self.sync()

    def maintain(self) -> None:
        """Merge all parts of the table. The barrier makes the merged part durable, since only inserts sync their files."""
        self._ask(f"OPTIMIZE TABLE {TABLE} FINAL")

    def files(self) -> int:
        """Return the number of active parts."""
        database, table = TABLE.split(".")
        parts = (
            f"SELECT count() FROM system.parts WHERE active AND database = '{database}' AND table = '{table}'"
        )
        (column,) = self._ask(parts, "ArrowTable").columns
        return int(column[0].as_py())

    def read(self, clock: OperationClock) -> int:
        with clock.operation():
            return sum(part.num_rows for part in self._parts(stream=self.client == "tuned"))

    def _parts(self, *, stream: bool) -> Iterator[Any]:
        """Read the table into Arrow: as one table, or batch by batch."""
        select = f"SELECT * FROM {TABLE}"
        if not stream:
            yield self._ask(select, "ArrowTable")
            return
        with self._errors():
            yield from self._opened().send_query(select, "Arrow").record_batch()

    def count(self) -> int:
        (column,) = self._ask(f"SELECT count() FROM {TABLE}", "ArrowTable").columns
        return int(column[0].as_py())

    def scan(self) -> Iterator[Mapping[str, Any]]:
        for part in self._parts(stream=self.operation != "read" or self.client == "tuned"):
            yield from arrow.chunks(part, self.source.schema)

    def verified_by(self) -> str:
        whole = self.operation == "read" and self.client == "reference"
        return f"chDB {'query' if whole else 'send_query'}()"

    def _ask(self, sql: str, form: str = "CSV") -> Any:
        with self._errors():
            return self._opened().query(sql, form)

    def _opened(self) -> Any:
        from chdb import session

        if self._session is None:
            self._session = session.Session(str(self.folder / "clickhouse"))
        return self._session

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn chDB's errors, which are bare RuntimeErrors, into StoreRefused."""
        try:
            yield
        except RuntimeError as error:
            said = " ".join(str(error).split())[:500]
            full = os.strerror(errno.ENOSPC) in said
            raise StoreRefused(f"{FULL}: {said}" if full else f"chDB refused: {said}") from error


def _kind(field: Field) -> str:
    """Return the type of a field's column."""
    if field.type == "decimal":
        return f"Decimal({field.precision or DIGITS}, {field.scale or 0})"
    return TYPES[field.type]


def _quoted(name: str) -> str:
    """Return an SQL identifier in backticks."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
