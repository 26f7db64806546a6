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
from contextlib import ExitStack, contextmanager
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
    """A job that has ended well. Its clock begins with its input, when all jobs are ready, and ends with the end of its output."""

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
        """Run a job for each input: `command` is told its number, and the descriptor to which it has to report. All jobs start and get ready
        before the first clock begins: no start of a process takes a core from a job that is timed. Raises StoreRefused, which names the job
        that failed, and why."""
        began_s = time.perf_counter()
        with ExitStack() as processes:

            def start(number: int) -> _Job:
                with self._ending():
                    return processes.enter_context(self._started(number, partial(command, number)))

            def work(number: int) -> Ended:
                with self._ending():
                    return self._work(jobs[number], inputs[number], began_s)

            jobs = each(start, len(inputs), self._parallel, self._stop)
            return each(work, len(inputs), self._parallel, self._stop)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """End all jobs where one of them fails; raises the first failure."""
        try:
            yield
        except BaseException as error:
            if (first := self._stop(error)) is not error:
                raise first from None
            raise

    def _stop(self, why: BaseException) -> BaseException:
        """End all jobs. Returns the first reason to do so."""
        with self._lock:
            self._failed = self._failed or why
            for process in self._running:
                process.kill()
            return self._failed

    @contextmanager
    def _started(self, number: int, command: Callable[[int], Sequence[str]]) -> Iterator[_Job]:
        """A job that is ready. Its process has ended when this ends."""
        began_s = time.perf_counter()
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
            job = _Job(number, process, told)
            try:
                with self._watched(job):
                    job.ready = _line(told)
                if not job.ready:
                    raise job.failed()
                job.start_s = time.perf_counter() - began_s
                yield job
            finally:
                process.kill()
                process.wait()
                job.listening.join()
                with self._lock:
                    self._running.discard(process)

    @contextmanager
    def _watched(self, job: _Job) -> Iterator[None]:
        """Kill a job that takes too long; raises StoreRefused then."""
        hung = threading.Event()

        def end() -> None:
            hung.set()
            job.process.kill()

        watch = threading.Timer(self._timeout_s, end)
        watch.start()
        try:
            yield
        finally:
            watch.cancel()
        if hung.is_set():
            raise StoreRefused(f"Job {job.number} has not ended after {self._timeout_s:g} s: it was killed")

    def _work(self, job: _Job, data: bytes, began_s: float) -> Ended:
        """Give a job its input, and take its output."""
        stdin, stdout = job.process.stdin, job.process.stdout
        assert stdin and stdout
        feeding = threading.Thread(target=feed, args=(stdin, data, self._bits_per_s), daemon=True)
        with self._watched(job):
            try:
                ready_s = time.perf_counter()
                feeding.start()
                output = taken(stdout, self._bits_per_s)
                ended_s = time.perf_counter()
                ended = _line(job.told)
                code = job.process.wait()
            finally:
                job.process.kill()
                feeding.join()
        if code or not ended:
            raise job.failed()
        return Ended(
            began_s=ready_s - began_s,
            seconds=ended_s - ready_s,
            start_s=job.start_s,
            cpu_s=ended["cpu_s"] - job.ready["cpu_s"],
            memory_peak_bytes=ended["memory_peak_bytes"],
            output=output,
        )


class _Job:
    """A job's process: what it reports at `told`, and what it says on standard error."""

    def __init__(self, number: int, process: subprocess.Popen[bytes], told: IO[str]) -> None:
        self.number, self.process, self.told = number, process, told
        self.ready: dict[str, Any] = {}  # what it reports when it is ready
        self.start_s = 0.0
        self._says: list[bytes] = []
        self.listening = threading.Thread(target=self._listen, daemon=True)
        self.listening.start()

    def _listen(self) -> None:
        assert self.process.stderr
        self._says.append(self.process.stderr.read())

    def failed(self) -> StoreRefused:
        """Wait for the end of the process. Return why it has failed."""
        code = self.process.wait()
        self.listening.join()
        return StoreRefused(f"Job {self.number} has failed: {failure(code, b''.join(self._says))}")


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
