"""Delta Lake tables written and read by Spark. The pod is the driver; executors are separate pods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from storebench.attempt.clock import OperationClock
from storebench.connection import Connection
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.schema import FIELDS, Field
from storebench.errors import StorebenchError
from storebench.s3 import java_cannot_address
from storebench.spark import session as spark_session
from storebench.spark.filesystems.base import FileSystem
from storebench.spark.filesystems.s3 import S3
from storebench.stores.base import Server, TypicalTime
from storebench.stores.bulk_write_read import second_pass
from storebench.stores.bulk_write_read.base import READ, before
from storebench.stores.bulk_write_read.delta import DeltaStore
from storebench.stores.bulk_write_read.delta_files import DeltaOnFiles
from storebench.stores.bulk_write_read.filled_tables import CopiedTable, KeptTable, fills_another
from storebench.stores.file_servers import KINDS
from storebench.stores.spark import SparkDriver
from storebench.study.reserved import DROP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
TUNED = {
    "spark.sql.adaptive.enabled": "false",  # plans with a single scan leave nothing to adapt
    "spark.databricks.delta.snapshotPartitions": "2",  # the log of a table is too small for the default of 50 tasks
    "spark.databricks.delta.stats.collect": "false",  # no minima and maxima: no query filters by them
    "spark.databricks.delta.properties.defaults.checkpointInterval": "1000",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
# This dataset has line breaks and doubled quotes inside quotes, unlike the original study's CSV.
CSV_OPTIONS = {"multiLine": True, "escape": '"'}
CSV_COLUMNS = 20_480  # Spark's default limit of columns in a CSV
FIRST_TIME = "0001-01-02"  # PySpark uses datetime.fromtimestamp, which also computes the day before

SPARK_TYPES = {
    "integer": "bigint",
    "float": "double",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "string": "string",
}


class DeltaSpark(SparkDriver, DeltaStore):
    """Delta Lake by Spark. `reference` is the study's code with the defaults of today's Spark. `tuned` passes typed Arrow tables.

    A write is verified in the driver without Spark, from the table's files in S3. A read is verified by a second pass of Spark in the
    executors. `delta-spark@hdfs` and `delta-spark@ozone` keep their tables in HDFS and Ozone.
    """

    name = "delta-spark"
    elsewhere = tuple(KINDS)
    counters = (*SparkDriver.counters, *DeltaStore.counters)
    clients = ("reference", "tuned")
    delivers = ("rows in Python", "rows in the JVM")
    packages = ("pyspark", "pandas", "pyarrow", "deltalake")
    typical = (
        TypicalTime("write", fixed_s=33, million_s=110),
        TypicalTime("read", fixed_s=50, million_s=125),
    )
    modules = ("pandas", "pyarrow", "pyspark.sql")

    _kept: KeptTable | None = None  # the place of a copy for the next cells, if this pod fills another store

    @classmethod
    def cannot_give_back_fields(cls, schema: Sequence[Field], client: str) -> str:
        early = (field.name for field in schema if field.type == "timestamp" and before(field, FIRST_TIME))
        if client == "reference" and (name := next(early, None)):
            return (
                f"the column {name!r} has timestamps before {FIRST_TIME}, of which Spark cannot make a datetime of Python. Use the client"
                " tuned, or make them nulls"
            )
        return ""

    @classmethod
    def cannot_address(cls, bucket: str) -> str:
        return java_cannot_address(bucket)

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
        if self.operation == READ:
            self.check_table()
        self.begin([S3(self.server)])

    def begin(self, file_systems: Sequence[FileSystem]) -> None:
        """Start the session."""
        self.start(file_systems, DELTA | (TUNED if self.client == "tuned" else {}))

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

    def write(self, batch: int | None, clock: OperationClock) -> int:
        with spark_session.errors("The write"):
            if self.client == "tuned":
                return self._write_tables(batch, clock)
            if batch is None:
                return self._write_csv(clock)
            return self._write_batches(batch, clock)

    def _write_batches(self, batch: int, clock: OperationClock) -> int:
        import pandas

        rows = 0
        for part in clock.source(self.source.batches(batch)):
            with clock.operation():
                frame = self.spark.createDataFrame(pandas.DataFrame(part))
                frame.write.format("delta").mode("append").save(self._path)
            rows += len(part)
        return rows

    def _write_csv(self, clock: OperationClock) -> int:
        """Write all rows at once: Spark reads the CSV. Inferring types is source time; parsing the CSV again for the write is not.

        The types of a custom file are given: Spark would infer a number for 007, and return 7.
        """
        path = f"s3a://{self.source.bucket}/{self.source.key}"
        schema = None if self.source.schema is FIELDS else spark_schema(self.source.schema)
        options = {"header": True, "inferSchema": schema is None, **csv_options(self.source.schema)}
        (frame,) = clock.source(self.spark.read.options(**options).csv(path, schema) for _ in range(1))
        with clock.operation():
            frame.write.format("delta").mode("overwrite").option("overwriteSchema", "True").save(self._path)
        return self._rows_of_last_commit()

    def _write_tables(self, batch: int | None, clock: OperationClock) -> int:
        rows = 0
        for table in clock.source(self.source.tables(batch)):
            with clock.operation():
                frame = self.spark.createDataFrame(table)
                # files of fewer than 100,000 rows only cost time to open
                files = max(1, min(self._cores, table.num_rows // 100_000))
                frame.coalesce(files).write.format("delta").mode("append").save(self._path)
            rows += table.num_rows
        return rows

    def read(self, clock: OperationClock) -> int:
        with spark_session.errors("The read"):
            if self.client == "tuned":
                return self._scan_columns(clock)
            seen = self.spark.sparkContext.accumulator(0)

            def count(row: Any) -> None:
                seen.add(1)

            with clock.operation():
                self._foreach(count)
            return int(seen.value)

    def _foreach(self, visit: Callable[[Any], None]) -> None:
        """Read with `foreach`, for both the timed `reference` read and its second pass."""
        self._load().foreach(visit)

    def _scan_columns(self, clock: OperationClock) -> int:
        """Read every column of every row inside the executors' JVMs."""
        from pyspark.sql import Observation
        from pyspark.sql.functions import count, lit

        seen = Observation("seen")
        with clock.operation():
            frame = self._load().observe(seen, count(lit(1)).alias("rows"))
            frame.write.format("noop").mode("overwrite").save()
        return int(seen.get["rows"])

    def checksum(self) -> TableChecksum:
        if self.operation != "read":
            return super().checksum()
        schema = self.source.schema
        with spark_session.errors("The second pass"):
            if self.client == "tuned":
                # The noop sink of the timed read shows no data, so this repeats the scan of the same columns into Arrow.
                sum_batches = second_pass.of_batches(schema)
                columns = self._load().mapInArrow(sum_batches, second_pass.SCHEMA)
                total = second_pass.total_of(columns.collect(), schema)
            else:
                seen = self.spark.sparkContext.accumulator(second_pass.Seen(schema), second_pass.SeenSum())
                self._foreach(seen.add)
                total = seen.value
        if total.problem:
            raise ValueError(total.problem)
        return total.checksum

    def verified_by(self) -> str:
        if self.operation != "read":
            return super().verified_by()
        call = "mapInArrow()" if self.client == "tuned" else "foreach()"
        return f"Spark's {call} in the executors"

    @property
    def _path(self) -> str:
        return self.uri("s3a")

    @property
    def _cores(self) -> int:
        return self._executors * int(self.values["executor_cores"])

    def _load(self) -> DataFrame:
        return self.spark.read.format("delta").load(self._path)

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
        if self.operation == READ:
            self.check_table()

    def describe(self) -> Server:
        server, file_server = super().describe(), self.file_server
        tables = f"{file_server.title} {file_server.version()}"
        return replace(server, settings={**server.settings, "tables": tables, **file_server.settings()})


def csv_options(schema: Sequence[Field]) -> dict[str, Any]:
    """Return the options by which Spark reads the CSV of a dataset with these fields."""
    more = {"maxColumns": len(schema)} if len(schema) > CSV_COLUMNS else {}
    return {**CSV_OPTIONS, **more}


def spark_schema(schema: Sequence[Field]) -> str:
    """Return Spark's schema of a dataset with these fields, as DDL."""
    return ", ".join(
        f"`{field.name}` decimal({field.precision}, {field.scale})"
        if field.type == "decimal"
        else f"`{field.name}` {SPARK_TYPES[field.type]}"
        for field in schema
    )


def _delta_version(spark: SparkSession) -> str:
    """Return the version in the manifest of the loaded jar."""
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    delta = loader.loadClass("io.delta.sql.DeltaSparkSessionExtension")
    version = delta.getPackage().getImplementationVersion()
    return str(version or "unknown")
