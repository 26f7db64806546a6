"""Runs the jobs of an attempt, and times each of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, TypeVar

from storebench.errors import SpecError, StoreRefused
from storebench.stores.map_formats.network import feed, taken

T = TypeVar("T")

# Of what a failed process says: ytsaurus-yson names the offset last, after the bytes around it.
ERROR_CHARACTERS = 1_000
PACKAGE = "storebench.stores.map_formats"
PYTHON = (sys.executable, "-m", f"{PACKAGE}.job")
COMPILED = "map-job"  # images/formats/compiled


def program_of(client: str) -> tuple[str, ...]:
    """The program that is a client's job, to be followed by its arguments (job.py says which). Raises SpecError where it is not there."""
    if client == "python":
        return PYTHON
    if (found := shutil.which(COMPILED)) is None:
        raise SpecError(f"{COMPILED} is not on the PATH of this pod: build the image formats anew")
    return (found,)


@dataclass(frozen=True)
class Ended:
    """A job that has ended well. Its clock begins when it is ready, and ends with the end of its output."""

    began_s: float  # since the first job was started
    seconds: float
    start_s: float  # from the start of the process until it was ready: with Python, packages, classes of rows
    cpu_s: float  # within its seconds
    memory_peak_bytes: int
    output: bytes

    @property
    def off_cpu_s(self) -> float:
        """How long it waited: for its input, its output, or a core. Less than that where several of its threads ran at once."""
        return max(0.0, self.seconds - self.cpu_s)


class Jobs:
    """Runs jobs, at most `parallel` at once. The first that fails, or takes longer than `timeout_s`, ends them all.

    `bits_per_s` is what the network lets pass to each job, and from it; None: as much as there is.
    """

    def __init__(self, parallel: int, timeout_s: float, bits_per_s: int | None = None) -> None:
        self._parallel, self._timeout_s, self._bits_per_s = parallel, timeout_s, bits_per_s
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        # The first one: by it the others are ended, and none of them is the reason.
        self._failed: BaseException | None = None

    def run(self, inputs: Sequence[bytes], command: Callable[[int, int], Sequence[str]]) -> list[Ended]:
        """Run a job for each input: `command` is told its number, and the descriptor to which it has to report. Raises StoreRefused,
        which names the job that failed, and why."""
        began_s = time.perf_counter()

        def job(number: int) -> Ended:
            try:
                return self._job(number, inputs[number], partial(command, number), began_s)
            except BaseException as error:
                if (first := self._stop(error)) is not error:
                    raise first from None
                raise

        return each(job, len(inputs), self._parallel, self._stop)

    def _stop(self, why: BaseException) -> BaseException:
        """End all jobs. Returns the first reason to do so."""
        with self._lock:
            self._failed = self._failed or why
            for process in self._running:
                process.kill()
            return self._failed

    @contextmanager
    def _process(
        self, command: Callable[[int], Sequence[str]]
    ) -> Iterator[tuple[subprocess.Popen[bytes], IO[str]]]:
        """A job's process, and what it reports. It has ended when this ends."""
        reports, report = os.pipe()
        with os.fdopen(reports) as told:
            try:
                with self._lock:
                    if self._failed:
                        raise StoreRefused("another job has failed before this one began")
                    process = subprocess.Popen(
                        command(report),
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        pass_fds=[report],
                    )
                    self._running.add(process)
            finally:
                os.close(report)
            try:
                yield process, told
            finally:
                process.kill()
                process.wait()
                with self._lock:
                    self._running.discard(process)

    def _job(
        self, number: int, data: bytes, command: Callable[[int], Sequence[str]], began_s: float
    ) -> Ended:
        hung = threading.Event()
        started_s = time.perf_counter()
        with self._process(command) as (process, told):
            assert process.stdin and process.stdout and process.stderr

            def end() -> None:
                hung.set()
                process.kill()

            says: list[bytes] = []
            stderr = process.stderr
            listening = threading.Thread(target=lambda: says.append(stderr.read()), daemon=True)
            listening.start()
            watch = threading.Timer(self._timeout_s, end)
            watch.start()
            feeding = threading.Thread(target=feed, args=(process.stdin, data, self._bits_per_s), daemon=True)
            try:
                ready = _line(told)
                ready_s = time.perf_counter()
                feeding.start()
                output = taken(process.stdout, self._bits_per_s)
                ended_s = time.perf_counter()
                ended = _line(told)
                code = process.wait()
            finally:
                watch.cancel()
                process.kill()
                for thread in (feeding, listening):
                    if thread.ident:
                        thread.join()
        if hung.is_set():
            raise StoreRefused(f"Job {number} has not ended after {self._timeout_s:g} s: it was killed")
        if code or not ready or not ended:
            raise StoreRefused(f"Job {number} has failed: {failure(code, b''.join(says))}")
        return Ended(
            began_s=ready_s - began_s,
            seconds=ended_s - ready_s,
            start_s=ready_s - started_s,
            cpu_s=ended["cpu_s"] - ready["cpu_s"],
            memory_peak_bytes=ended["memory_peak_bytes"],
            output=output,
        )


def each(
    work: Callable[[int], T],
    times: int,
    parallel: int,
    stop: Callable[[BaseException], object] = lambda error: None,
) -> list[T]:
    """The results of work(0), work(1), ..., `parallel` at once; raises the first error, and then begins no more. `stop` has to end what is
    going on then: also where it is this process that is told to end.
    """
    with ThreadPoolExecutor(parallel) as pool:
        futures = [pool.submit(work, number) for number in range(times)]
        try:
            return [future.result() for future in futures]
        except BaseException as error:
            for future in futures:
                future.cancel()
            stop(error)
            raise


def failure(code: int, says: bytes) -> str:
    """Why a process has failed: what it says, and how it ended."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    text = " ".join(says.decode(errors="replace").split())[:ERROR_CHARACTERS]
    return f"{text} ({how})" if text else how


def _line(told: IO[str]) -> dict[str, Any]:
    line = told.readline()
    found: dict[str, Any] = json.loads(line) if line else {}
    return found
