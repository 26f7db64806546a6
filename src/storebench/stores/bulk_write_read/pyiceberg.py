"""The store PyIceberg: Iceberg tables in S3, with an SQL catalog in PostgreSQL."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from storebench import s3
from storebench.attempt.clock import OperationClock
from storebench.connection import Connection, tls
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.stores.base import Durability, Pod, Server, TypicalTime
from storebench.stores.bulk_write_read import arrow
from storebench.stores.bulk_write_read.s3_table import S3Table
from storebench.stores.postgresql_server import PORT, connected, encryption, identify
from storebench.stores.pyarrow_s3 import CONNECT_S, REQUEST_S, send_no_checksums

if TYPE_CHECKING:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import Table

NAMESPACE = "storebench"  # of all targets' tables in the catalog
# As delta-rs' tuned client: a cheap codec, and no statistics of columns, by which a bulk read skips nothing.
TUNED_TABLE = {"write.parquet.compression-codec": "snappy", "write.metadata.metrics.default": "none"}


class PyIceberg(S3Table):
    """Iceberg by PyIceberg, in the pod. Each write call appends a snapshot, whose commit is a row of the catalog: no barrier.

    The `reference` client appends a text table of each list of dicts, and reads the whole table into memory. The `tuned` client appends the
    source's typed tables with cheap settings, and streams the read.
    """

    name = "pyiceberg"
    clients = ("reference", "tuned")
    delivers = ("Arrow", "Arrow")
    connection = "postgresql"
    provisions = False  # the table's files are in S3, and would stay when a run removes the catalog's server
    pod = Pod("iceberg")
    packages = ("pyiceberg", "pyarrow", "sqlalchemy", "psycopg")
    # No pyarrow.fs: it reads the variable of the CA when it is imported, and `connect` sets this variable.
    modules = ("sqlalchemy", "psycopg", "pyarrow", "pyiceberg.catalog", "storebench.dataset.typed")
    # Medians of a run with 20,000 rows
    typical = (TypicalTime("write", fixed_s=8, million_s=92), TypicalTime("read", fixed_s=5, million_s=36))

    _catalog: SqlCatalog | None = None
    _table: Table | None = None

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        return arrow.too_fine(schema, "this Iceberg table")

    def connect(self) -> None:
        super().connect()
        assert self.server is not None
        with connected(self.server) as session:
            found = identify(session)
        self._catalog_server = f"{found.name} {found.version}"
        with self._errors():
            self._catalog = self._connected()

    def describe(self) -> Server:
        """Describe the package, which does the work in this process: S3 and the catalog's PostgreSQL only keep its results."""
        import pyiceberg

        settings = {"catalog": self._catalog_server, "s3_server": self._s3_server}
        return Server("Iceberg (PyIceberg)", pyiceberg.__version__, settings)

    def durability(self) -> Durability:
        return Durability("s3", "each commit is a row in PostgreSQL that names acknowledged uploads")

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
            return sum(part.num_rows for part in self._parts(stream=self.client == "tuned"))

    def _parts(self, *, stream: bool) -> Iterator[Any]:
        """Open the table, and read it into Arrow: as one table, or batch by batch."""
        scan = self._loaded().scan()
        if stream:
            yield from scan.to_arrow_batch_reader()
        else:
            yield scan.to_arrow()

    def count(self) -> int:
        """Count the rows in the Parquet files, not in the manifests."""
        from pyarrow import parquet as pq

        rows = 0
        with self._errors():
            table = self._loaded()
            for task in table.scan().plan_files():
                with table.io.new_input(task.file.file_path).open() as file:
                    rows += pq.read_metadata(file).num_rows
        return rows

    def scan(self) -> Iterator[Mapping[str, Any]]:
        with self._errors():
            for part in self._parts(stream=self.operation != "read" or self.client == "tuned"):
                yield from arrow.chunks(part, self.source.schema)

    def verified_by(self) -> str:
        whole = self.operation == "read" and self.client == "reference"
        return f"PyIceberg scan().{'to_arrow' if whole else 'to_arrow_batch_reader'}()"

    def drop(self) -> None:
        from pyiceberg.exceptions import NoSuchTableError

        with self._errors(), suppress(NoSuchTableError):
            assert self._catalog is not None
            self._catalog.drop_table(self._identifier)
        super().drop()

    def close(self) -> None:
        if self._catalog is not None:
            self._catalog.close()
            self._catalog = None

    @property
    def _identifier(self) -> tuple[str, str]:
        return NAMESPACE, self.target

    @property
    def _place(self) -> str:
        return f"s3://{self.source.bucket}/{self.key}"

    def _loaded(self) -> Table:
        assert self._catalog is not None
        return self._catalog.load_table(self._identifier)

    def _connected(self) -> SqlCatalog:
        """Return the catalog. It creates its own tables in the database, if they are missing."""
        assert self.server is not None
        storage = Connection.from_environment("s3")
        send_no_checksums()
        if file := tls.authority_file(storage):
            os.environ["SSL_CERT_FILE"] = (
                file  # PyIceberg has no option for a CA; pyarrow reads this variable
            )
        importlib.import_module(
            "pyiceberg.io.pyarrow"
        )  # otherwise the first operation would import this module
        from pyiceberg.catalog.sql import SqlCatalog
        from sqlalchemy import URL

        ((host, port),) = self.server.addresses(PORT)
        uri = URL.create(
            "postgresql+psycopg",
            username=self.server.login or None,
            password=self.server.password or None,
            host=host,
            port=port,
            database=self.server.schema,
            query=dict(encryption(self.server)),
        )
        options = {
            "s3.endpoint": str(storage.extra.get("endpoint_url") or ""),
            "s3.region": str(storage.extra.get("region_name") or s3.DEFAULT_REGION),
            "s3.access-key-id": storage.login,
            "s3.secret-access-key": storage.password,
            "s3.session-token": str(storage.extra.get(s3.TOKEN) or ""),
            "s3.connect-timeout": str(CONNECT_S),
            "s3.request-timeout": str(REQUEST_S),
        }
        given = {name: value for name, value in options.items() if value}
        return SqlCatalog(
            NAMESPACE,
            uri=uri.render_as_string(hide_password=False),
            warehouse=f"s3://{self.source.bucket}/tables",
            **{"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO", **given},
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the errors of PyIceberg, pyarrow and SQLAlchemy into StoreUnreachable or StoreRefused."""
        from pyarrow import ArrowException
        from pyiceberg.exceptions import NoSuchTableError
        from sqlalchemy.exc import OperationalError, SQLAlchemyError

        try:
            yield
        except NoSuchTableError as error:
            raise StoreRefused(
                f"There is no Iceberg table {self.target} in the catalog: it was never written, or it was removed"
            ) from error
        except OperationalError as error:
            raise StoreUnreachable(f"The catalog's PostgreSQL stopped answering: {error.orig}") from error
        except Exception as error:
            known = isinstance(error, OSError | ArrowException | SQLAlchemyError)
            if not known and not type(error).__module__.startswith("pyiceberg."):
                raise
            said = " ".join(str(error).split())
            if "NETWORK_CONNECTION" in said:
                raise StoreUnreachable(f"S3 stopped answering at {self._place}: {said}") from error
            raise StoreRefused(f"PyIceberg failed at {self._place}: {said}") from error
