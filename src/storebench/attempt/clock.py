"""The clocks of an attempt: one for its phases, one for the time in the store's client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class OperationClock:
    """A clock that adds up the seconds in the store's client, and separately the seconds in the source of rows.

    If the client pulls rows from an iterator, the time inside the iterator's `next` is source time and is subtracted from the operation's
    time. All times are on the monotonic clock.
    """

    def __init__(self, cpu_clock: Callable[[], float] = time.process_time) -> None:
        self._cpu_clock = cpu_clock
        self.operation_s = 0.0
        self.operation_cpu_s = 0.0  # of all threads, and of the child processes that `cpu_clock` counts
        self.source_s = 0.0
        self._source_cpu_s = 0.0

    @contextmanager
    def operation(self) -> Iterator[None]:
        """Time a sequence of client calls."""
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
        """Yield `items` and count the time to get each item as source time."""
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
    """A clock of an attempt's phases: seconds by name, in the order of the phases' first starts."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the phase `name`. The times of a phase that is entered again are added."""
        began_s = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - began_s)

    def add(self, name: str, seconds: float) -> None:
        """Add seconds to the phase `name`."""
        self.phases[name] = self.phases.get(name, 0.0) + seconds
