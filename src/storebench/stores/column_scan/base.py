"""The base class of the study's stores, which write the table and sum a column with cold and hot caches."""

from __future__ import annotations

import errno
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from storebench.attempt.cgroup import Cgroup
from storebench.attempt.clock import OperationClock
from storebench.errors import SpecError, StoreRefused, VerificationFailed, unknown
from storebench.stores.base import Durability, Pod, Store, TypicalTime
from storebench.stores.caches import Cold, WarmedUp
from storebench.stores.column_scan import residence
from storebench.stores.column_scan.table import BY_NAME, ROW_BYTES, SUMMED, check_sum, digest

if TYPE_CHECKING:
    import numpy as np

    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec
    from storebench.connection import Connection

MEMORY_FOLD = 3  # memory relative to the columns: the columns, a copy in the store's form, and pages
MEMORY_BASE_BYTES = 256 << 20

FULL = "The volume is full. Ask for a larger one (volume_size), or for fewer rows"

Columns = Mapping[str, "np.ndarray[Any, Any]"]


class ScanStore(Store):
    """A tool that holds the table and sums its column `self.column`."""

    operations = ("write", "cold_sum", "hot_sum")
    # Medians of runs with 20,000 rows, and the times of 1,430,394 rows in docs/studies/column_scan.md
    typical: ClassVar[tuple[TypicalTime, ...]] = (
        TypicalTime("write", fixed_s=12, million_s=1),
        TypicalTime("cold_sum", fixed_s=4),
        TypicalTime("hot_sum", fixed_s=4),
    )
    pod = Pod("columns")
    packages: ClassVar[tuple[str, ...]] = ("numpy",)
    modules: ClassVar[tuple[str, ...]] = ("numpy", "storebench.stores.column_scan.dataset")
    holds_the_table = False  # True: each pod has the whole table in memory
    memory_fold: ClassVar[int] = MEMORY_FOLD
    column: str
    rows: int
    _s3: Any  # client of the dataset's S3
    _warmed_up: WarmedUp | None = None

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        store = super().of(spec, connection, s3_client)
        store._s3, store.rows = s3_client, spec.rows
        return store

    def connect(self) -> None:
        self.column = self.values.get("column", "quantity")
        if self.column not in SUMMED:
            raise unknown("column to add up", self.column, SUMMED)
        if self.operation == "write" or self.holds_the_table:
            check_memory(self.rows, Cgroup().memory_limit_bytes(), self.memory_fold)

    # The methods of this study's stores beside `connect`, `describe` and `drop`.

    @abstractmethod
    def write(self, columns: Columns, clock: OperationClock) -> None:
        """Write the table, and return when it is durable. The clock marks the timed work."""

    @abstractmethod
    def stored_bytes(self) -> int:
        """Return the bytes that the table takes."""

    @abstractmethod
    def make_cold(self) -> Cold:
        """Remove the table from all caches."""

    @abstractmethod
    def scan(self) -> float:
        """Return the sum of the column. The first call opens the table; later calls use the open table."""

    def timed_scan(self, clock: OperationClock) -> float:
        """Scan the column within the clock's operation, and return the sum."""
        with clock.operation():
            return self.scan()

    def prove_scanned(self) -> str:
        """Return the proof that the last timed scan read the table, or "" for a store without caches of answers.

        Raises VerificationFailed for a sum from another source, such as a cache of results.
        """
        return ""

    @abstractmethod
    def count(self) -> int:
        """Return the number of rows of the table."""

    @abstractmethod
    def additions(self) -> int:
        """Return the largest number of additions of a value in the order in which `scan` adds."""

    @abstractmethod
    def read_back(self, column: str) -> np.ndarray[Any, Any]:
        """Return the column's values in the order of the rows, independently of `scan`."""

    def read_back_all(self) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        """Yield the name and values of each column."""
        return ((name, self.read_back(name)) for name in BY_NAME)

    def durability(self) -> Durability:
        return Durability("disk", "fsync of each file and folder")

    def read_bytes(self) -> int:
        """Return the bytes read from disk so far."""
        return residence.read_bytes()

    def grown_bytes(self) -> int | None:
        """Return the bytes of the table's files in the page cache; None if the pod cannot see the files."""
        return None

    def disturbances(self) -> list[str]:
        return self._warmed_up.disturbances() if self._warmed_up else []

    def operate(self, attempt: Attempt) -> str:
        from storebench.stores.column_scan.dataset import manifest_of

        with attempt.phase("prepare"):
            manifest = manifest_of(self._s3, self.bucket, str(attempt.spec.dataset))
        does = {"write": self._write, "cold_sum": self._cold_sum, "hot_sum": self._hot_sum}
        try:
            return does[self.operation](attempt, manifest)
        except OSError as error:
            raise StoreRefused(_reason(error)) from error

    def columns(self, manifest: Mapping[str, Any], prefix: str) -> Columns:
        """Load the dataset's columns into memory."""
        from storebench.stores.column_scan.dataset import columns_of

        return dict(columns_of(self._s3, self.bucket, prefix, manifest))

    def prepare(self, manifest: Mapping[str, Any], prefix: str) -> None:
        """Prepare a sum, outside the timed window."""

    def _write(self, attempt: Attempt, manifest: Mapping[str, Any]) -> str:
        clock = OperationClock(self.cpu_s)
        with attempt.phase("prepare"):
            columns = self.columns(manifest, str(attempt.spec.dataset))
        attempt.durability(self.durability())
        with attempt.measuring(clock), attempt.operation():
            self.write(columns, clock)
        del columns
        attempt.metric("write_s", clock.operation_s)
        attempt.metric("rows_per_s", self.rows / clock.operation_s)
        stored = self.stored_bytes()
        attempt.metric("stored_bytes", stored)
        attempt.result.data_bytes = stored
        with attempt.phase("verify"):
            self._check_count()
            for name, values in self.read_back_all():
                self._check_column(name, values, manifest)
        return f"{self.rows:,} rows counted; the checksums of all {len(BY_NAME)} columns, read back"

    def _cold_sum(self, attempt: Attempt, manifest: Mapping[str, Any]) -> str:
        clock = OperationClock(self.cpu_s)
        with attempt.phase("prepare"):
            self.prepare(manifest, str(attempt.spec.dataset))
            cold = self.make_cold()
        before, grown = self.read_bytes(), self.grown_bytes()
        with attempt.measuring(clock), attempt.operation():
            total = self.timed_scan(clock)
        read = self.read_bytes() - before
        self._report(attempt, clock, read)
        cold.report(attempt, read, clock.operation_s)
        with attempt.phase("verify"):
            now = self.grown_bytes()
            came = read if grown is None or now is None else min(read, now - grown)
            proof = cold.prove("sum", came)
            said = self._check_result(total, manifest)
        return f"{said}; {proof}"

    def _hot_sum(self, attempt: Attempt, manifest: Mapping[str, Any]) -> str:
        clock = OperationClock(self.cpu_s)
        with attempt.phase("prepare"):
            self.prepare(manifest, str(attempt.spec.dataset))
            self._warmed_up = WarmedUp.by(self._pass_s)
        before = self.read_bytes()
        with attempt.measuring(clock), attempt.operation():
            total = self.timed_scan(clock)
        self._report(attempt, clock, self.read_bytes() - before)
        self._warmed_up.report(attempt)
        with attempt.phase("verify"):
            return self._check_result(total, manifest)

    def _pass_s(self) -> float:
        clock = OperationClock()
        self.timed_scan(clock)
        return clock.operation_s

    def _report(self, attempt: Attempt, clock: OperationClock, read: int) -> None:
        attempt.metric("sum_s", clock.operation_s)
        attempt.metric("rows_per_s", self.rows / clock.operation_s)
        attempt.metric("disk_read_bytes", read)

    def _check_result(self, total: float, manifest: Mapping[str, Any]) -> str:
        said = check_sum(total, manifest, self.column, self.additions())
        if scanned := self.prove_scanned():
            said = f"{said}; {scanned}"
        self._check_count()
        self._check_column(self.column, self.read_back(self.column), manifest)
        return f"{said}; {self.rows:,} rows counted; the column's checksum, read back"

    def _check_count(self) -> None:
        if (count := self.count()) != self.rows:
            raise VerificationFailed(f"The table has {count:,} rows, and not {self.rows:,}")

    def _check_column(self, name: str, values: np.ndarray[Any, Any], manifest: Mapping[str, Any]) -> None:
        column = BY_NAME[name]
        if len(values) != self.rows or digest(values.astype(column.dtype)) != manifest["digests"][name]:
            raise VerificationFailed(f"The column {name} has other values than the dataset")


def check_memory(rows: int, limit_bytes: int | None, fold: int = MEMORY_FOLD) -> None:
    """Raise SpecError if `rows` rows, `fold` times, do not fit into a pod's memory."""
    needed = fold * rows * ROW_BYTES + MEMORY_BASE_BYTES
    if limit_bytes is not None and needed > limit_bytes:
        raise SpecError(
            f"{rows:,} rows have {rows * ROW_BYTES:,} bytes, for which a pod needs about {needed:,} bytes of memory, and it has"
            f" {limit_bytes:,}: give pods more (pod_memory), or ask for fewer rows"
        )


def _reason(error: OSError) -> str:
    where = f": {error.filename}" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{FULL}{where}"
    if error.errno == errno.ENOENT:
        return f"What was written is not there{where}: was the volume lost?"
    return f"{type(error).__name__}: {error.strerror or error}{where}"
