"""The floor: write the same bytes to the pod's volume and read them, sequentially, without Spark and Parquet, until they are on disk."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from storebench.attempt.clock import OperationClock
from storebench.errors import StoreRefused, VerificationFailed
from storebench.stores.base import Durability, Pod, Store, TypicalTime
from storebench.stores.parquet_copy.rows import SIZES, Checksum, Rows
from storebench.stores.volume import OPTIONS
from storebench.study.reserved import DROP

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec
    from storebench.connection import Connection

FOLDER = "/data"
BLOCK_BYTES = 4 << 20


class Disk(Store):
    """A file with the bytes of all rows. A copy begins without this file in the page cache."""

    name = "disk"
    operations = ("generate", "copy")
    # The fixed times of pods without a server and without Java in other studies, and the times of 100 MB in docs/studies/parquet_copy.md
    typical = (
        TypicalTime("generate", fixed_s=8, million_s=0.01, times=SIZES),
        TypicalTime("copy", fixed_s=4, million_s=0.01, times=SIZES),
    )
    pod = Pod("python", volume=FOLDER)
    options = OPTIONS
    figures_cover = "engine"
    packages = ("numpy",)
    modules = ("numpy",)
    rows: Rows

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        store = super().of(spec, connection, s3_client)
        if spec.operation != DROP:
            iterations, record_bytes = (int(store.values[name]) for name in ("iterations", "record_bytes"))
            store.rows = Rows(spec.seed, iterations, spec.rows, record_bytes)
        return store

    def connect(self) -> None:
        self._generated, self._copied = (Path(FOLDER, name) for name in ("generated", "copied"))

    def operate(self, attempt: Attempt) -> str:
        attempt.durability(Durability("disk", "fsync of the file"))
        clock = OperationClock()
        path, does = (
            (self._generated, self._generate) if self.operation == "generate" else (self._copied, self._copy)
        )
        try:
            with attempt.phase("prepare"):
                if path.exists():
                    raise StoreRefused(
                        f"The destination {path} exists. An earlier try has left it: clear the cell's steps from drop on, then this step"
                    )
                if self.operation == "copy":
                    forget(self._generated)
            does(attempt, clock)
            attempt.metric("time_s", clock.operation_s)
            attempt.metric("mb_per_s", self.rows.total_bytes / 1e6 / clock.operation_s)
            attempt.metric("disk_bytes", path.stat().st_blocks * 512)
            attempt.metric("file_bytes", path.stat().st_size)
            attempt.metric("files", 1)
            with attempt.phase("verify"):
                forget(path)
                return self._verify(path)
        except OSError as error:
            full = "The volume is full. Ask for a larger one (volume_size), or for fewer rows"
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise StoreRefused(full if is_full else f"{error.strerror}: {error.filename}") from error

    def _generate(self, attempt: Attempt, clock: OperationClock) -> None:
        batches = self.rows.batches(0, self.rows.total)
        with (
            attempt.measuring(clock),
            attempt.operation(),
            self._generated.open("wb", buffering=0) as file,
            clock.operation(),
        ):
            for _, values in clock.source(batches):
                _write_all(file.write, values.reshape(-1).data)
            os.fsync(file.fileno())

    def _copy(self, attempt: Attempt, clock: OperationClock) -> None:
        reading_s = 0.0
        with (
            attempt.measuring(clock),
            attempt.operation(),
            self._generated.open("rb", buffering=0) as source,
            self._copied.open("wb", buffering=0) as file,
            clock.operation(),
        ):
            while True:
                began_s = time.perf_counter()
                block = source.read(BLOCK_BYTES)
                reading_s += time.perf_counter() - began_s
                if not block:
                    break
                _write_all(file.write, memoryview(block))
            os.fsync(file.fileno())
        megabytes = self.rows.total_bytes / 1e6
        attempt.metric("read_mb_per_s", megabytes / reading_s)
        attempt.metric("write_mb_per_s", megabytes / (clock.operation_s - reading_s))

    def _verify(self, path: Path) -> str:
        import numpy as np

        expected, checksum, length = (
            self.rows.checksum(),
            Checksum(self.rows.record_bytes),
            self.rows.record_bytes,
        )
        with path.open("rb") as file:
            first = 0
            while block := file.read(self.rows.batch_rows * length):
                if len(block) % length:
                    raise VerificationFailed(f"{path} ends within a row")
                values = np.frombuffer(block, dtype=np.uint8).reshape(-1, length)
                checksum.add(np.arange(first, first + len(values), dtype=np.uint64), values)
                first += len(values)
        if (checksum.rows, checksum.sum) != (expected.rows, expected.sum):
            raise VerificationFailed(f"{path} has other bytes than were written")
        return f"{checksum.rows:,} rows read back; checksum {checksum}"

    def drop(self) -> None:
        """Do nothing: the drop deletes the whole volume without a pod."""


def forget(path: Path) -> None:
    """Remove a file on disk from the page cache."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _write_all(write: Callable[[Any], int | None], data: memoryview) -> None:
    while data:
        data = data[write(data) or 0 :]
