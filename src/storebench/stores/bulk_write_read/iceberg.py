"""The base class of stores of Iceberg tables: location in S3, SQL catalog in PostgreSQL, removal, and verification by PyIceberg."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from storebench import s3
from storebench.connection import Connection, tls
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.stores.base import Durability
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


class IcebergStore(S3Table):
    """A store with an Iceberg table per target. Each write call adds a snapshot, whose commit is a row of the catalog: no barrier.

    Verification reads the tables with PyIceberg, unless a store makes its own second pass.
    """

    connection = "postgresql"
    provisions = False  # PostgreSQL has only the catalog: the table's files are in S3

    _catalog: SqlCatalog | None = None

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

    def durability(self) -> Durability:
        return Durability("s3", "each commit is a row in PostgreSQL that names acknowledged uploads")

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

    def files(self) -> int:
        with self._errors():
            return sum(1 for _ in self._loaded().scan().plan_files())

    def scan(self) -> Iterator[Mapping[str, Any]]:
        with self._errors():
            for part in self._parts():
                yield from arrow.chunks(part, self.source.schema)

    def verified_by(self) -> str:
        return "PyIceberg scan().to_arrow_batch_reader()"

    def _parts(self) -> Iterator[Any]:
        """Open the table, and read it into Arrow, batch by batch."""
        yield from self._loaded().scan().to_arrow_batch_reader()

    def drop(self) -> None:
        from pyiceberg.exceptions import NoSuchTableError

        with self._errors(), suppress(NoSuchTableError):
            assert self._catalog is not None
            self._catalog.drop_table(self._identifier)
        super().drop()

    def close(self) -> None:
        super().close()
        if self._catalog is not None:
            self._catalog.close()
            self._catalog = None

    @property
    def _identifier(self) -> tuple[str, str]:
        return NAMESPACE, self.target

    @property
    def _place(self) -> str:
        return f"s3://{self.source.bucket}/{self.key}"

    @property
    def _storage(self) -> Connection:
        """Return the connection to S3. `server` is the connection to the catalog's PostgreSQL."""
        return Connection.from_environment("s3")

    @property
    def _region(self) -> str:
        return str(self._storage.extra.get("region_name") or s3.DEFAULT_REGION)

    def _storage_settings(self) -> dict[str, str]:
        """Return the settings of a catalog that have the same names in Python and in Java: the place of tables, and the login to S3."""
        storage = self._storage
        settings = {
            "warehouse": f"s3://{self.source.bucket}/tables",
            "s3.endpoint": str(storage.extra.get("endpoint_url") or ""),
            "s3.access-key-id": storage.login,
            "s3.secret-access-key": storage.password,
            "s3.session-token": str(storage.extra.get(s3.TOKEN) or ""),
        }
        return {name: value for name, value in settings.items() if value}

    def _loaded(self) -> Table:
        assert self._catalog is not None
        return self._catalog.load_table(self._identifier)

    def _connected(self) -> SqlCatalog:
        """Return the catalog. It creates its own tables in the database, if they are missing."""
        assert self.server is not None
        send_no_checksums()
        if file := tls.authority_file(self._storage):
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
        return SqlCatalog(
            NAMESPACE,
            uri=uri.render_as_string(hide_password=False),
            **{
                "py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO",
                "s3.region": self._region,
                "s3.connect-timeout": str(CONNECT_S),
                "s3.request-timeout": str(REQUEST_S),
                **self._storage_settings(),
            },
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
