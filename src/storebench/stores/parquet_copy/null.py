"""The floor without a file system: rows are made and discarded. The time of every store includes this work."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from storebench.errors import VerificationFailed
from storebench.spark import session as spark_session
from storebench.stores.base import Durability
from storebench.stores.parquet_copy.base import ParquetStore
from storebench.stores.parquet_copy.rows import Checksum, summed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from storebench.attempt.run import Attempt
    from storebench.spark.filesystems.base import FileSystem
    from storebench.stores.files import Files


class Null(ParquetStore):
    """The floor: Spark's sink `noop` discards the rows. Verification uses a second pass over the same frames."""

    name = "null"
    operations = ("generate",)
    keeps_data = False
    floor = True
    figures_cover = "engine"
    _seen: Checksum | None = None  # the checksum of a second pass

    @property
    def file_system(self) -> FileSystem:
        raise NotImplementedError  # this store has no files

    @property
    def files(self) -> Files:
        raise NotImplementedError

    def connect(self) -> None:
        self.begin([])

    def durability(self) -> Durability:
        return Durability("none", "nothing is kept")

    def operate(self, attempt: Attempt) -> str:
        with attempt.phase("prepare"), spark_session.errors("The warm-up"):
            self.write_all(self.few_rows(), "")
        self.measure(attempt, self.generate)
        with attempt.phase("verify"), spark_session.errors("The second pass"):
            self._seen = checksum = Checksum(self.rows.record_bytes)
            self.generate()
            expected = self.rows.checksum()
            if (checksum.rows, checksum.sum) != (expected.rows, expected.sum):
                raise VerificationFailed(
                    f"Spark got {checksum.rows:,} rows with the checksum {checksum}, and not {expected.rows:,} with {expected}"
                )
        return f"{checksum.rows:,} rows in a second pass; checksum {checksum}"

    def save(self, frame: DataFrame, mode: str, folder: str) -> None:
        if self._seen is None:
            frame.write.format("noop").mode("overwrite").save()
            return
        totals = frame.mapInArrow(partial(summed, self.rows), "rows bigint, sum string").collect()
        for total in totals:
            self._seen.include(total["rows"], int(total["sum"], 16))

    def drop(self) -> None:
        """Do nothing: nothing was stored."""
