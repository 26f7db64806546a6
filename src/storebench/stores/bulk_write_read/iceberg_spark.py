"""Iceberg tables written and read by Spark. The pod is the driver; executors are separate pods.

Iceberg's S3FileIO accesses the tables, as Iceberg's documentation recommends for S3. Spark only reads the CSV by S3A.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from storebench.dataset.schema import Field
from storebench.spark import session as spark_session
from storebench.spark.filesystems.s3 import S3
from storebench.stores.base import Pod, Server, TypicalTime
from storebench.stores.bulk_write_read.base import READ, WRITE, same_but_for_case
from storebench.stores.bulk_write_read.iceberg import NAMESPACE, TUNED_TABLE, IcebergStore
from storebench.stores.bulk_write_read.maintenance import MAINTAIN
from storebench.stores.bulk_write_read.spark_table import TUNED, SparkTable
from storebench.stores.postgresql_server import PORT, encryption
from storebench.stores.pyarrow_s3 import CHECKSUMS, CONNECT_S, REQUEST_S
from storebench.study.reserved import DROP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CATALOG = NAMESPACE  # Spark's name of the catalog is also the catalog's name in PostgreSQL
SETTINGS = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
    # The default of Spark 4.2, which delta-spark has: the same rows come to both table formats in the same way.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    **{f"spark.executorEnv.{variable}": "when_required" for variable in CHECKSUMS},
}
SYSTEM_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"  # PostgreSQL's driver in Java has no word for these


class IcebergSpark(SparkTable, IcebergStore):
    """Iceberg by Spark. `reference` has the defaults of Iceberg and of today's Spark.

    PyIceberg verifies a write in the driver, from the same catalog.
    """

    name = "iceberg-spark"
    operations = (WRITE, MAINTAIN, READ)
    pod = Pod("iceberg-spark", account="storebench-spark")
    packages = ("pyspark", "pandas", "pyarrow", "pyiceberg", "sqlalchemy", "psycopg")
    # No pyarrow.fs: it reads the variable of the CA when it is imported, and `connect` sets this variable.
    modules = ("sqlalchemy", "psycopg", "pandas", "pyarrow", "pyspark.sql", "pyiceberg.catalog")
    typical = (
        TypicalTime("write", fixed_s=33, million_s=110),
        TypicalTime(MAINTAIN, fixed_s=50, million_s=60),
        TypicalTime("read", fixed_s=50, million_s=125),
    )

    _exists = False  # whether this write has created the table

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        names = [field.name for field in schema]
        # PySpark takes the columns of mapInArrow() by their names, without quotes.
        if name := next((name for name in names if "." in name or "`" in name), None):
            return f"the column {name!r} has a point or a backquote, which PySpark takes for a part of its syntax: rename it"
        if same := same_but_for_case(schema):
            return f"Spark takes columns whose names differ only in case, such as {same!r}, for one"
        return super().cannot_hold_fields(schema)

    def connect(self) -> None:
        super().connect()
        if self.operation == DROP:
            return  # the drop needs only the catalog and S3
        if self.operation != WRITE:
            with self._errors():
                self._loaded()  # a missing table
        self.start([S3(self._storage)], SETTINGS | (TUNED if self.client == "tuned" else {}))
        with spark_session.errors("Opening the catalog"):
            # After the start: its settings are on the JVM's command line. Spark sends executors the login to S3 with each table.
            for name, value in self._catalog_settings().items():
                self.spark.conf.set(f"spark.sql.catalog.{CATALOG}.{name}", value)
            self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG}.{NAMESPACE}")

    def describe(self) -> Server:
        settings = {
            "arrow": self.spark.conf.get("spark.sql.execution.arrow.pyspark.enabled"),
            "catalog": self._catalog_server,
            "s3_server": self._s3_server,
        }
        version = self.spark._jvm.org.apache.iceberg.IcebergBuild.version()
        return Server("Iceberg", f"{version} on Spark {self.spark.version}", settings)

    def _append(self, frame: DataFrame) -> None:
        if self._exists:
            frame.writeTo(self._name).append()
        else:
            self._replace(frame)
            self._exists = True

    def _replace(self, frame: DataFrame) -> None:
        writer = frame.writeTo(self._name).using("iceberg").tableProperty("location", self._place)
        for name, value in (TUNED_TABLE if self.client == "tuned" else {}).items():
            writer = writer.tableProperty(name, value)
        writer.create()

    def maintain(self) -> None:
        """Compact small files. The replaced files stay in S3 for the older snapshots; no reader of the current snapshot opens them."""
        with spark_session.errors("The maintenance"):
            # The name begins with the catalog: Iceberg takes the first part for a catalog if a catalog has this name, as here.
            self.spark.sql(f"CALL {CATALOG}.system.rewrite_data_files(table => '{self._name}')").collect()

    def _rows_of_last_commit(self) -> int:
        with self._errors():
            snapshot = self._loaded().current_snapshot()
            assert snapshot is not None and snapshot.summary is not None
            return int(str(snapshot.summary["added-records"]))

    def _load(self) -> DataFrame:
        return self.spark.table(self._name)

    @property
    def _name(self) -> str:
        return f"{CATALOG}.{NAMESPACE}.{self.target}"

    def _catalog_settings(self) -> dict[str, str]:
        """Return the settings of Spark's catalog, with the logins to PostgreSQL and to S3."""
        assert self.server is not None
        ((host, port),) = self.server.addresses(PORT)
        host = f"[{host}]" if ":" in host else host
        tls = dict(encryption(self.server))
        if tls.get("sslrootcert") == "system":
            tls["sslrootcert"] = SYSTEM_AUTHORITIES
        settings = {
            "type": "jdbc",
            "uri": f"jdbc:postgresql://{host}:{port}/{quote(self.server.schema, safe='')}",
            "jdbc.user": self.server.login,
            "jdbc.password": self.server.password,
            **{f"jdbc.{name}": value for name, value in tls.items()},
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "client.region": self._region,
            "s3.path-style-access": "true",
            **self._storage_settings(),
            "http-client.apache.connection-timeout-ms": str(CONNECT_S * 1000),
            "http-client.apache.socket-timeout-ms": str(REQUEST_S * 1000),
        }
        return {name: value for name, value in settings.items() if value}
