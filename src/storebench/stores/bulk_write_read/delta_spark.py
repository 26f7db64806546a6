"""Delta Lake tables written and read by Spark. The pod is the driver; executors are separate pods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from storebench.connection import Connection
from storebench.errors import StorebenchError
from storebench.spark import session as spark_session
from storebench.spark.filesystems.base import FileSystem
from storebench.spark.filesystems.s3 import S3
from storebench.stores.base import Server, TypicalTime
from storebench.stores.bulk_write_read.base import READ, WRITE
from storebench.stores.bulk_write_read.delta import DeltaStore
from storebench.stores.bulk_write_read.delta_files import DeltaOnFiles
from storebench.stores.bulk_write_read.filled_tables import CopiedTable, KeptTable, fills_another
from storebench.stores.bulk_write_read.maintenance import MAINTAIN
from storebench.stores.bulk_write_read.spark_table import TUNED, SparkTable
from storebench.stores.file_servers import KINDS
from storebench.study.reserved import DROP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
TUNED_DELTA = {
    **TUNED,
    "spark.databricks.delta.snapshotPartitions": "2",  # the log of a table is too small for the default of 50 tasks
    "spark.databricks.delta.stats.collect": "false",  # no minima and maxima: no query filters by them
    "spark.databricks.delta.properties.defaults.checkpointInterval": "1000",
}


class DeltaSpark(SparkTable, DeltaStore):
    """Delta Lake by Spark. `reference` has the defaults of today's Spark.

    A write is verified in the driver without Spark, from the table's files in S3. `delta-spark@hdfs` and `delta-spark@ozone` keep their tables in HDFS and Ozone.
    """

    name = "delta-spark"
    operations = (WRITE, MAINTAIN, READ)
    elsewhere = tuple(KINDS)
    counters = (*SparkTable.counters, *DeltaStore.counters)
    packages = ("pyspark", "pandas", "pyarrow", "deltalake")
    typical = (
        TypicalTime("write", fixed_s=33, million_s=110),
        TypicalTime(MAINTAIN, fixed_s=50, million_s=60),
        TypicalTime("read", fixed_s=50, million_s=125),
    )
    modules = ("pandas", "pyarrow", "pyspark.sql")

    _kept: KeptTable | None = None  # the place of a copy for the next cells, if this pod fills another store

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        server = cls.server_of(spec.store)
        if fills_another(spec):
            kept = KeptTable.of(spec, s3_client)
            if content := kept.content():
                return CopiedTable.from_kept(kept, content, spec, connection)  # type: ignore[return-value]
            filler = super().of(spec, connection, s3_client)
            filler._kept = kept
            return filler
        if server is None or issubclass(cls, DeltaOnFiles):
            return super().of(spec, connection, s3_client)
        store = DeltaSparkOnFiles.of(spec, connection, s3_client)
        store.kind, _ = server
        return store  # type: ignore[return-value] # mypy does not know that `of` creates a subclass

    def connect(self) -> None:
        if self.operation == DROP:
            return  # the drop only needs S3
        assert self.server is not None
        if self.operation != WRITE:
            self.check_table()
        self.begin([S3(self.server)])

    def begin(self, file_systems: Sequence[FileSystem]) -> None:
        """Start the session."""
        self.start(file_systems, DELTA | (TUNED_DELTA if self.client == "tuned" else {}))

    def describe(self) -> Server:
        return Server(
            "Delta Lake",
            f"{_delta_version(self.spark)} on Spark {self.spark.version}",
            {"arrow": self.spark.conf.get("spark.sql.execution.arrow.pyspark.enabled")},
        )

    def operate(self, attempt: Attempt) -> str:
        verified = super().operate(attempt)
        if self._kept is not None:
            with attempt.phase("teardown"):
                try:
                    self._kept.keep(self.key, self.target, self.count(), self.describe())
                except StorebenchError as error:  # the cell has its own table
                    print(
                        f"the next cells write this table again, since no copy was kept: {error}", flush=True
                    )
        return verified

    @property
    def _path(self) -> str:
        return self.uri("s3a")

    def _append(self, frame: DataFrame) -> None:
        frame.write.format("delta").mode("append").save(self._path)

    def _replace(self, frame: DataFrame) -> None:
        frame.write.format("delta").mode("overwrite").option("overwriteSchema", "True").save(self._path)

    def _load(self) -> DataFrame:
        return self.spark.read.format("delta").load(self._path)

    def maintain(self) -> None:
        """Compact small files. Without VACUUM, the replaced files stay; no reader of the current version opens them."""
        with spark_session.errors("The maintenance"):
            self.spark.sql(f"OPTIMIZE delta.`{self._path}`").collect()

    def _rows_of_last_commit(self) -> int:
        (row,) = self.spark.sql(f"DESCRIBE HISTORY delta.`{self._path}` LIMIT 1").collect()
        return int(row["operationMetrics"]["numOutputRows"])


class DeltaSparkOnFiles(DeltaOnFiles, DeltaSpark):
    """Delta Lake by Spark on a distributed file system. The CSV is still in S3."""

    def connect(self) -> None:
        self.file_server.files.check()
        if self.operation == DROP:
            return
        self.begin([S3(Connection.from_environment("s3")), self.file_server.file_system])
        if self.operation != WRITE:
            self.check_table()

    def describe(self) -> Server:
        server, file_server = super().describe(), self.file_server
        tables = f"{file_server.title} {file_server.version()}"
        return replace(server, settings={**server.settings, "tables": tables, **file_server.settings()})

    def files(self) -> int:
        """Count the files by Spark: delta-rs would need a copy of the table, which the verification makes after the maintenance."""
        with spark_session.errors("The description of the table"):
            (row,) = self.spark.sql(f"DESCRIBE DETAIL delta.`{self._path}`").collect()
        return int(row["numFiles"])


def _delta_version(spark: SparkSession) -> str:
    """Return the version in the manifest of the loaded jar."""
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    delta = loader.loadClass("io.delta.sql.DeltaSparkSessionExtension")
    version = delta.getPackage().getImplementationVersion()
    return str(version or "unknown")
