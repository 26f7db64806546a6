"""Collect the figures of executor pods over HTTP during the operation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from storebench.attempt.usage import SOMEWHERE, CpuSeconds, ask, sum_of
from storebench.spark.executor import FIGURES_PORT

INTERVAL_S = 1.0


class ExecutorMonitor:
    """Keeps the last figures of every executor that there ever was: one that is killed still counts.

    `addresses` gives the living executors: id -> IP address; `wanted` is how many there are to be.
    """

    def __init__(self, addresses: Callable[[], Mapping[str, str]], wanted: int) -> None:
        self._addresses = addresses
        self._wanted = self._fewest = wanted
        self._figures: dict[str, dict[str, Any]] = {}
        self._seen: set[str] = set()
        self._living: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="executor-monitor", daemon=True)

    def start(self) -> None:
        self._look()
        self._thread.start()

    @property
    def lost(self) -> int:
        """How many executors were lost since the start, whether others have replaced them or not.

        One that is lost before the first look was never seen: then there are too few.
        """
        return max(len(self._seen - self._living), self._wanted - self._fewest)

    def stop(self) -> list[dict[str, Any]]:
        """Ask one last time; returns the figures of all executors, each with its role and its id as name."""
        self._stop.set()
        self._thread.join()
        self._ask_all()
        return [
            {
                "role": "executor",
                "name": name,
                **{what: n for what, n in self._figures[name].items() if what != "boot_id"},
            }
            for name in sorted(self._figures, key=_number)
        ]

    def cpu_s(self) -> CpuSeconds | None:
        """The CPU seconds of all executors that there ever were, asked now, by machine; None where one does not answer."""
        if not self._ask_all():
            return None
        return sum_of({one.get("boot_id", SOMEWHERE): one["cpu_s"]} for one in list(self._figures.values()))

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            self._ask_all()

    def _look(self) -> Mapping[str, str]:
        try:
            addresses = self._addresses()
        except Exception:  # noqa: BLE001 - the driver's JVM has ended; that error is told elsewhere, the figures stay
            return {}
        self._living = set(addresses)
        self._seen |= self._living
        self._fewest = min(self._fewest, len(self._living))
        return addresses

    def _ask_all(self) -> bool:
        """Return whether all expected executors have answered."""
        addresses = self._look()
        if not addresses:
            return False
        answered = 0
        with ThreadPoolExecutor(max_workers=min(16, len(addresses))) as pool:
            for name, found in zip(addresses, pool.map(_ask, addresses.values()), strict=True):
                if found:
                    self._figures[name] = found
                    answered += 1
        return answered >= self._wanted


def _ask(address: str) -> dict[str, Any] | None:
    """The figures of one executor; None where it does not answer."""
    return ask(f"http://{address}:{FIGURES_PORT}/")


def _number(name: str) -> tuple[int, str]:
    return (int(name) if name.isdigit() else 0, name)
