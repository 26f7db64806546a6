"""The clocks of an attempt: its phases, and the exact time spent in the store's client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class OperationClock:
    """Adds up the seconds spent in the store's client, and apart from them those spent in the source.

    Where the client pulls rows from an iterator, the time inside the iterator's `next` is source time:
    it is taken out of the operation. All times are on the monotonic clock.
    """

    def __init__(self, cpu_clock: Callable[[], float] = time.process_time) -> None:
        self._cpu_clock = cpu_clock
        self.operation_s = 0.0
        self.operation_cpu_s = 0.0  # of all threads, and of child processes as far as `cpu_clock` sees them
        self.source_s = 0.0
        self._source_cpu_s = 0.0

    @contextmanager
    def operation(self) -> Iterator[None]:
        """Time a stretch of client calls."""
        source_s, source_cpu_s = self.source_s, self._source_cpu_s
        cpu_s, began_s = self._cpu_clock(), time.perf_counter()
        try:
            yield
        finally:
            wall_s = time.perf_counter() - began_s
            cpu_s = self._cpu_clock() - cpu_s
            self.operation_s += wall_s - (self.source_s - source_s)
            self.operation_cpu_s += max(0.0, cpu_s - (self._source_cpu_s - source_cpu_s))

    def source(self, items: Iterable[T]) -> Iterator[T]:
        """Pass `items` on; the time to get each of them is source time."""
        iterator = iter(items)
        while True:
            began_s, cpu_s = time.perf_counter(), time.thread_time()
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                self._source_cpu_s += time.thread_time() - cpu_s
                self.source_s += time.perf_counter() - began_s
            yield item


class PhaseClock:
    """The named parts of an attempt's time, in the order in which they began; seconds."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the phase `name`; a phase entered again adds up."""
        began_s = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - began_s)

    def add(self, name: str, seconds: float) -> None:
        self.phases[name] = self.phases.get(name, 0.0) + seconds
