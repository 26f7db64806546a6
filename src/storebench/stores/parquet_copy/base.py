"""The base class of the study's stores: Spark generates Parquet files in a file system, and copies the files there."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from storebench.attempt.cgroup import Cgroup
from storebench.attempt.clock import OperationClock
from storebench.errors import SpecError, VerificationFailed
from storebench.servers.fault import Fault
from storebench.spark import session as spark_session
from storebench.spark.filesystems.base import FileSystem
from storebench.stores.base import Durability, Server, TypicalTime
from storebench.stores.files import Files, Listed
from storebench.stores.parquet_copy.network import Traffic
from storebench.stores.parquet_copy.rows import SCHEMA, SIZES, C, Checksum, Rows, made
from storebench.stores.parquet_copy.under_fault import CopyUnderFault
from storebench.stores.spark import SparkDriver
from storebench.study.reserved import DROP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec
    from storebench.connection import Connection

GENERATED, COPIED, WARM_UP = "generated", "copied", "warm-up"  # names of a cell's folders
FILE_BYTES = 128 << 20  # size of the tuned client's files: the input of a Spark task, and a block of HDFS
WARM_UP_ROWS = 100
# Memory relative to an iteration of the reference client: the driver holds generated arrays, Python objects, and Spark's packed rows.
MEMORY_FOLD = 4
MEMORY_BASE_BYTES = 512 << 20
# Settings of every session, without overhead for small writes.
SETTINGS = {"spark.sql.adaptive.enabled": "false"}  # no query of this study has a shuffle
DESCRIBED = (
    "spark.sql.parquet.compression.codec",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.sources.commitProtocolClass",
)
# Parquet's checksums of pages: written by default, but only checked by readers with an option.
PAGE_CHECKSUM = "parquet.page.write-checksum.enabled"


class ParquetStore(SparkDriver):
    """A file system under Spark. `reference` does in Python what the study's code did: the driver makes each iteration as a list of rows,
    which Spark appends. `tuned` lets the executors make all rows, and writes files of equal size in one job.
    """

    operations: ClassVar[tuple[str, ...]] = ("generate", "copy")
    # Medians of runs with 4 MB, and the times of 100 MB in docs/studies/parquet_copy.md. A million row bytes are a MB.
    typical: ClassVar[tuple[TypicalTime, ...]] = (
        TypicalTime("generate", fixed_s=33, million_s=0.06, times=SIZES),
        TypicalTime("copy", fixed_s=17, million_s=0.06, times=SIZES),
    )
    clients = ("reference", "tuned")
    packages = ("pyspark", "pyarrow", "numpy")
    modules: ClassVar[tuple[str, ...]] = ("numpy", "pyarrow.parquet", "pyspark.sql")
    rows: Rows
    _s3: Any  # client of the results' S3

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        store = super().of(spec, connection, s3_client)
        store._s3 = s3_client
        if spec.operation != DROP:
            iterations, record_bytes = (int(store.values[name]) for name in ("iterations", "record_bytes"))
            store.rows = Rows(spec.seed, iterations, spec.rows, record_bytes)
        # An axis that does not apply to a store has no value.
        store.values = {"executors": spark_session.LOCAL, "checksum": "on", **store.values}
        return store

    # The methods of each store.

    @property
    @abstractmethod
    def file_system(self) -> FileSystem:
        """Return the file system as Spark uses it."""

    @property
    @abstractmethod
    def files(self) -> Files:
        """Return the file system as a client without Spark sees it."""

    @abstractmethod
    def durability(self) -> Durability:
        """Return the durability that the file system guarantees when Spark has ended."""

    def version(self) -> tuple[str, str]:
        """Return the server's name and version."""
        return "Spark", str(self.spark.version)

    def server_settings(self) -> Mapping[str, str]:
        """Return the settings that the server states."""
        return {}

    # The methods of an attempt.

    @property
    def checksum(self) -> bool:
        """Return whether the file system must store checksums of its data."""
        return self.values["checksum"] == "on"

    def folder(self, name: str) -> str:
        """Return the path of a cell's folder."""
        return f"{self.root}/{name}"

    @property
    def root(self) -> str:
        """Return the path of the folder that contains all data of the cell."""
        return f"storebench/{self.target}"

    def connect(self) -> None:
        self.files.check()
        if self.operation != DROP:
            self.begin([self.file_system])

    def begin(self, file_systems: Sequence[FileSystem]) -> None:
        """Start the session."""
        if self.client == "reference" and self.operation == "generate":
            check_memory(self.rows, self.values["driver_memory"], Cgroup().memory_limit_bytes())
        self.start(file_systems, SETTINGS)

    def describe(self) -> Server:
        name, version = self.version()
        hadoop = self.spark.sparkContext._jsc.hadoopConfiguration()
        settings = {
            "spark": str(self.spark.version),
            "hadoop_client": str(self.spark._jvm.org.apache.hadoop.util.VersionInfo.getVersion()),
            PAGE_CHECKSUM: str(hadoop.get(PAGE_CHECKSUM) or "default (true)"),
            **{setting: str(self.spark.conf.get(setting)) for setting in DESCRIBED},
        }
        return Server(name, version, {**settings, **self.server_settings()})

    def client_cores(self) -> int:
        """Return the number of threads of Spark: without executor pods, a thread for each visible core."""
        return super().client_cores() if self._executors else os.cpu_count() or 1

    def operate(self, attempt: Attempt) -> str:
        source, destination = self.folder(GENERATED), self.folder(COPIED)
        if self.operation == "generate":
            with attempt.phase("prepare"):
                self.files.check_absent(source)
                self._warm_up()
            self.measure(attempt, self.generate)
            with attempt.phase("verify"):
                return self._verify(attempt, source, self._generated_files())
        with attempt.phase("prepare"):
            self.files.check_absent(destination)
            self.files.listed(source)
            self._warm_up()
        fault = Fault.of(self.values)
        under = CopyUnderFault(attempt, fault, self.promise(fault.name)) if fault else None
        self.measure(attempt, partial(under.around, self.copy) if under else self.copy)
        with attempt.phase("verify"):
            if under:
                self._record_files(attempt, destination)
                return under.verified(self.rows, partial(self._read_back, destination))
            tasks = self.spark.read.parquet(self.file_system.uri(source)).rdd.getNumPartitions()
            return self._verify(attempt, destination, tasks)

    def generate(self) -> None:
        """Write all rows."""
        self.write_all(self.rows, GENERATED)

    def copy(self) -> None:
        """Read all rows, and write them to another folder."""
        source, destination = (self.file_system.uri(self.folder(folder)) for folder in (GENERATED, COPIED))
        self.spark.read.parquet(source).write.parquet(destination)

    def save(self, frame: DataFrame, mode: str, folder: str) -> None:
        """Write the frame as Parquet files to a folder of the file system."""
        frame.write.mode(mode).parquet(self.file_system.uri(self.folder(folder)))

    def write_all(self, rows: Rows, folder: str) -> None:
        """Write all rows in the client's way."""
        if self.client == "reference":
            for iteration in range(rows.iterations):
                frame = self.spark.createDataFrame(rows.values(iteration), SCHEMA)
                self.save(frame, "append", folder)
        else:
            ids = self.spark.range(0, rows.total, 1, self._tuned_files(rows))
            self.save(ids.mapInArrow(partial(made, rows), SCHEMA), "errorifexists", folder)

    def few_rows(self) -> Rows:
        """Return the few rows of a warm-up."""
        return Rows(self.rows.seed, 1, WARM_UP_ROWS, self.rows.record_bytes)

    def _warm_up(self) -> None:
        """Run the operation with few rows first: the first job of a JVM takes seconds longer than later jobs."""
        uri = self.file_system.uri(self.folder(WARM_UP))
        with spark_session.errors("The warm-up"):
            self.write_all(self.few_rows(), WARM_UP)
            self.spark.read.parquet(uri).write.parquet(f"{uri}/copy")
        self.files.remove(self.folder(WARM_UP))

    def measure(self, attempt: Attempt, does: Callable[[], None]) -> None:
        """Time an operation, and report the common figures of all operations."""
        clock = OperationClock(self.cpu_s)
        attempt.durability(self.durability())
        before = Traffic.so_far()
        with (
            attempt.measuring(clock),
            attempt.operation(),
            spark_session.errors(f"The operation {self.operation}"),
            clock.operation(),
        ):
            does()
        after = Traffic.so_far()
        attempt.metric("time_s", clock.operation_s)
        attempt.metric("mb_per_s", self.rows.total_bytes / 1e6 / clock.operation_s)
        if before and after and not self._executors:  # executor pods have their own network interfaces
            traffic = after.since(before)
            attempt.metric("received_bytes", traffic.received_bytes)
            attempt.metric("sent_bytes", traffic.sent_bytes)

    def _generated_files(self) -> int:
        """Return the expected number of generated files."""
        if self.client == "tuned":
            return self._tuned_files(self.rows)
        return self.rows.iterations * min(self.rows.rows, self._tasks)

    def _tuned_files(self, rows: Rows) -> int:
        """Return the number of files: equally many for each parallel task, each file at most FILE_BYTES."""
        return min(rows.total, self._tasks * -(-rows.total_bytes // (self._tasks * FILE_BYTES)))

    @property
    def _tasks(self) -> int:
        """Return the number of concurrent tasks."""
        return int(self.spark.sparkContext.defaultParallelism)

    def _verify(self, attempt: Attempt, folder: str, tasks: int) -> str:
        """Read the folder back and compare its rows.

        `tasks`: the number of tasks that wrote the folder. A task writes at most one file, and none if its part of the input has no
        beginning of a row group."""
        listed = self._record_files(attempt, folder)
        check_files(listed, tasks)
        expected, checksum = self.rows.checksum(), self._read_back(folder, Checksum(self.rows.record_bytes))
        if (checksum.rows, checksum.sum) != (expected.rows, expected.sum):
            raise VerificationFailed(
                f"{folder} has {checksum.rows:,} rows with the checksum {checksum}, and not {expected.rows:,} with {expected}"
            )
        return (
            f"{checksum.rows:,} rows in {len(listed.sizes)} files, read back by {type(self.files).__name__} and pyarrow with the checksums of"
            f" Parquet's pages; checksum {checksum}"
        )

    def _record_files(self, attempt: Attempt, folder: str) -> Listed:
        """Record the number and the sizes of a complete folder's files. Return the content of the folder."""
        listed = self.files.listed(folder)
        disk_bytes = self.files.disk_bytes(folder)
        attempt.metric("disk_bytes", disk_bytes)
        attempt.metric("file_bytes", listed.file_bytes)
        attempt.metric("files", len(listed.sizes))
        attempt.result.data_bytes = disk_bytes
        return listed

    def _read_back(self, folder: str, checksum: C) -> C:
        """Add the rows of a folder's files to a checksum. Return the checksum."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for name, data in self.files.parts(folder):
            try:
                table = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
                for batch in table.iter_batches(batch_size=self.rows.batch_rows):
                    checksum.add_batch(batch)
            except (ValueError, OSError, KeyError, pa.ArrowException) as error:
                raise VerificationFailed(f"{folder}/{name} has other rows: {error}") from error
        return checksum

    def drop(self) -> None:
        self.files.remove(self.root)


def check_files(listed: Listed, tasks: int) -> None:
    """Raise VerificationFailed if this number of tasks cannot have written these files."""
    count = len(listed.sizes)
    if count > tasks or (count < tasks and listed.file_bytes < tasks * FILE_BYTES // 2) or not count:
        raise VerificationFailed(f"There are {count} files, and {tasks} tasks have written them")


def check_memory(rows: Rows, heap: str, limit_bytes: int | None) -> None:
    """Raise SpecError if an iteration does not fit into a pod beside the JVM's heap."""
    number, unit = re.fullmatch(r"(\d+)([mg])", heap).groups()  # type: ignore[union-attr] # checked by the form
    heap_bytes = int(number) << {"m": 20, "g": 30}[unit]
    needed = MEMORY_FOLD * rows.rows * rows.record_bytes + heap_bytes + MEMORY_BASE_BYTES
    if limit_bytes is not None and needed > limit_bytes:
        raise SpecError(
            f"An iteration has {rows.rows * rows.record_bytes:,} bytes, for which a pod whose driver_memory is {heap} needs about {needed:,} bytes,"
            f" and it has {limit_bytes:,}: give pods more (pod_memory), or ask for fewer rows or more iterations"
        )
