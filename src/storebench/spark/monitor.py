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
    """A thread that keeps the last figures of every executor, also of killed executors.

    `addresses` returns the living executors: id -> IP address. `wanted`: the number of executors that the driver asked for.
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
        """The number of executors lost since the start, whether or not other executors have replaced them.

        An executor that was lost before the first look was never seen. The smallest number of living executors shows its loss.
        """
        return max(len(self._seen - self._living), self._wanted - self._fewest)

    def stop(self) -> list[dict[str, Any]]:
        """Ask the executors one last time. Returns the figures of all executors, each with its role, and its id as name."""
        self._stop.set()
        self._thread.join()
        self._ask_all()
        return [
            {
                "role": "executor",
                "name": name,
                **{figure: value for figure, value in self._figures[name].items() if figure != "boot_id"},
            }
            for name in sorted(self._figures, key=_number)
        ]

    def cpu_s(self) -> CpuSeconds | None:
        """Return the CPU seconds of all executors, also of lost ones, by machine; None if a living executor does not answer."""
        if not self._ask_all():
            return None
        executors = list(self._figures.values())
        return sum_of({executor.get("boot_id", SOMEWHERE): executor["cpu_s"]} for executor in executors)

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            self._ask_all()

    def _look(self) -> Mapping[str, str]:
        try:
            addresses = self._addresses()
        except Exception:  # noqa: BLE001 - the driver's JVM has ended: the session reports that error, the figures stay
            return {}
        self._living = set(addresses)
        self._seen |= self._living
        self._fewest = min(self._fewest, len(self._living))
        return addresses

    def _ask_all(self) -> bool:
        """Ask all living executors for their figures. Returns whether at least the expected number has answered."""
        addresses = self._look()
        if not addresses:
            return False
        answered = 0
        with ThreadPoolExecutor(max_workers=min(16, len(addresses))) as pool:
            for name, answer in zip(addresses, pool.map(_ask, addresses.values()), strict=True):
                if answer:
                    self._figures[name] = answer
                    answered += 1
        return answered >= self._wanted


def _ask(address: str) -> dict[str, Any] | None:
    """Return the figures of an executor; None if it does not answer."""
    return ask(f"http://{address}:{FIGURES_PORT}/")


def _number(name: str) -> tuple[int, str]:
    return (int(name) if name.isdigit() else 0, name)
