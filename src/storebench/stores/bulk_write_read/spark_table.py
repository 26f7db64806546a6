"""The common part of stores whose tables are written and read by Spark, whatever the format of the table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from storebench.attempt.clock import OperationClock
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.schema import FIELDS, Field
from storebench.s3 import java_cannot_address
from storebench.spark import session as spark_session
from storebench.stores.bulk_write_read import second_pass
from storebench.stores.bulk_write_read.base import READ, before
from storebench.stores.bulk_write_read.s3_table import S3Table
from storebench.stores.spark import SparkDriver

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TUNED = {
    "spark.sql.adaptive.enabled": "false",  # plans with a single scan leave nothing to adapt
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


class SparkTable(SparkDriver, S3Table):
    """A table that Spark writes and reads. `reference` is the study's code. `tuned` passes typed Arrow tables.

    A read is verified by a second pass of Spark in the executors. A subclass has the calls of its table format.
    """

    clients = ("reference", "tuned")
    delivers = ("rows in Python", "rows in the JVM")

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
                self._append(frame)
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
            self._replace(frame)
        return self._rows_of_last_commit()

    def _write_tables(self, batch: int | None, clock: OperationClock) -> int:
        rows = 0
        for table in clock.source(self.source.tables(batch)):
            with clock.operation():
                frame = self.spark.createDataFrame(table)
                # files of fewer than 100,000 rows only cost time to open
                files = max(1, min(self._cores, table.num_rows // 100_000))
                self._append(frame.coalesce(files))
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
        if self.operation != READ:
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
        if self.operation != READ:
            return super().verified_by()
        call = "mapInArrow()" if self.client == "tuned" else "foreach()"
        return f"Spark's {call} in the executors"

    @property
    def _cores(self) -> int:
        return self._executors * int(self.values["executor_cores"])

    @abstractmethod
    def _append(self, frame: DataFrame) -> None:
        """Append the rows to the table, and create the table with its first rows."""

    @abstractmethod
    def _replace(self, frame: DataFrame) -> None:
        """Write the table with these rows alone."""

    @abstractmethod
    def _rows_of_last_commit(self) -> int:
        """Return the number of rows that the table's last commit has added."""

    @abstractmethod
    def _load(self) -> DataFrame:
        """Open the table."""


def csv_options(schema: Sequence[Field]) -> dict[str, Any]:
    """Return the options by which Spark reads the CSV of a dataset with these fields."""
    more = {"maxColumns": len(schema)} if len(schema) > CSV_COLUMNS else {}
    return {**CSV_OPTIONS, **more}


def spark_schema(schema: Sequence[Field]) -> str:
    """Return Spark's schema of a dataset with these fields, as DDL."""

    def column(field: Field) -> str:
        kind = (
            f"decimal({field.precision}, {field.scale})"
            if field.type == "decimal"
            else SPARK_TYPES[field.type]
        )
        return f"`{field.name.replace('`', '``')}` {kind}"

    return ", ".join(map(column, schema))
