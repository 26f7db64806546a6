"""The common part of stores whose pod is a Spark driver: the session, and the executors' figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from storebench.attempt.usage import CpuSeconds
from storebench.protocol.counters import Counter
from storebench.spark import session as spark_session
from storebench.spark.filesystems.base import FileSystem
from storebench.spark.monitor import ExecutorMonitor
from storebench.spark.options import ENCRYPTION, KEY_NAME, OPTIONS
from storebench.stores.base import Pod, Store
from storebench.stores.counters import spark as spark_counters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkDriver(Store):
    """A store whose pod is the Spark driver. Executors are separate pods, or threads of the driver if the axis `executors` is `local`."""

    pod = Pod("jvm", account="storebench-spark")
    options = OPTIONS
    counters: ClassVar[tuple[Counter, ...]] = spark_counters.COUNTERS

    _session: SparkSession | None = None
    _monitor: ExecutorMonitor | None = None
    _executors = 0  # number of executor pods

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> tuple[str, ...]:
        return (KEY_NAME,) if values[ENCRYPTION] else ()

    @property
    def spark(self) -> SparkSession:
        assert self._session is not None
        return self._session

    def start(self, file_systems: Sequence[FileSystem], extra: Mapping[str, str]) -> None:
        """Start the session with `extra` settings. Raises a StorebenchError on failure."""
        with spark_session.errors("Starting Spark"):
            session, self._executors = spark_session.start_session(self.values, file_systems, extra)
        self._session = session
        if self._executors:
            self._monitor = ExecutorMonitor(
                lambda: spark_session.executor_addresses(session), self._executors
            )
            self._monitor.start()

    def usage(self) -> list[dict[str, Any]]:
        return self._monitor.stop() if self._monitor else []

    def cpu_of_pods_s(self) -> CpuSeconds | None:
        return self._monitor.cpu_s() if self._monitor else {}

    def read_counters(self) -> Mapping[str, float | str]:
        return {**super().read_counters(), **spark_counters.read(self.spark)}

    def disturbances(self) -> list[str]:
        lost = self._monitor.lost if self._monitor else 0
        return [
            *super().disturbances(),
            *([f"lost {lost} of {self._executors} executors"] if lost else []),
        ]

    def cpu_s(self) -> float:
        from storebench.attempt.machine import process_cpu_s

        gateway = self.spark.sparkContext._gateway
        return super().cpu_s() + process_cpu_s(gateway.proc.pid)

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()
        super().close()
