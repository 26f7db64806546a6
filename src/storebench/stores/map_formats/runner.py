"""Run the jobs of an attempt, and time each job."""

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

# The length of a failed process's error to keep: ytsaurus-yson names the offset last, after the surrounding bytes.
ERROR_CHARACTERS = 1_000
PACKAGE = "storebench.stores.map_formats"
PYTHON = (sys.executable, "-m", f"{PACKAGE}.job")
COMPILED = "map-job"  # images/formats/compiled


def program_of(client: str) -> tuple[str, ...]:
    """Return the command of a client's job, without its arguments (see job.py). Raises SpecError if the program is missing."""
    if client == "python":
        return PYTHON
    if (path := shutil.which(COMPILED)) is None:
        raise SpecError(f"{COMPILED} is not on the PATH of this pod: build the image formats anew")
    return (path,)


@dataclass(frozen=True)
class Ended:
    """A successful job. Its clock begins with its input, when all jobs are ready, and ends with its output."""

    began_s: float  # seconds since the start of the first job
    seconds: float
    start_s: float  # from the start of the process until it was ready: Python, packages, classes of rows
    cpu_s: float  # CPU seconds while the clock runs
    memory_peak_bytes: int
    output: bytes

    @property
    def off_cpu_s(self) -> float:
        """Return the seconds that the job waited for input, output, or a core; too low if several of its threads ran concurrently."""
        return max(0.0, self.seconds - self.cpu_s)


class Jobs:
    """A runner of jobs. The first job that fails, or takes longer than `timeout_s`, ends all jobs.

    `parallel`: the largest number of concurrent jobs. `bits_per_s`: the network's limit to and from each job; None: no limit.
    """

    def __init__(self, parallel: int, timeout_s: float, bits_per_s: int | None = None) -> None:
        self._parallel, self._timeout_s, self._bits_per_s = parallel, timeout_s, bits_per_s
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        # The first failure. It ends all other jobs, whose failures are ignored.
        self._failed: BaseException | None = None

    def run(self, inputs: Sequence[bytes], command: Callable[[int, int], Sequence[str]]) -> list[Ended]:
        """Run a job for each input. `command`: returns a job's command for its number and its descriptor for reports.

        All jobs are ready before the first clock begins, so that no start of a process disturbs a timed job. Raises StoreRefused with the
        failed job and the reason."""
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
        """End all jobs if a job fails. Raises the first failure."""
        try:
            yield
        except BaseException as error:
            if (first := self._stop(error)) is not error:
                raise first from None
            raise

    def _stop(self, why: BaseException) -> BaseException:
        """End all jobs. Return the first failure."""
        with self._lock:
            self._failed = self._failed or why
            for process in self._running:
                process.kill()
            return self._failed

    @contextmanager
    def _started(self, number: int, command: Callable[[int], Sequence[str]]) -> Iterator[_Job]:
        """Start a job and wait until it is ready. The process is ended at the end of the block."""
        began_s = time.perf_counter()
        reports, report = os.pipe()
        with os.fdopen(reports) as report_file:
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
            job = _Job(number, process, report_file)
            try:
                with self._watched(job):
                    job.ready = _line(report_file)
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
        """Kill a job that takes longer than the timeout. Raises StoreRefused then."""
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
        """Write a job's input, and read its output."""
        stdin, stdout = job.process.stdin, job.process.stdout
        assert stdin and stdout
        feeding = threading.Thread(target=feed, args=(stdin, data, self._bits_per_s), daemon=True)
        with self._watched(job):
            try:
                ready_s = time.perf_counter()
                feeding.start()
                output = taken(stdout, self._bits_per_s)
                ended_s = time.perf_counter()
                ended = _line(job.report_file)
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
    """A job's process, with its reports (`report_file`) and its standard error."""

    def __init__(self, number: int, process: subprocess.Popen[bytes], report_file: IO[str]) -> None:
        self.number, self.process, self.report_file = number, process, report_file
        self.ready: dict[str, Any] = {}  # the report that the job is ready
        self.start_s = 0.0
        self._says: list[bytes] = []
        self.listening = threading.Thread(target=self._listen, daemon=True)
        self.listening.start()

    def _listen(self) -> None:
        assert self.process.stderr
        self._says.append(self.process.stderr.read())

    def failed(self) -> StoreRefused:
        """Wait for the end of the process. Return the error with the reason of its failure."""
        code = self.process.wait()
        self.listening.join()
        return StoreRefused(f"Job {self.number} has failed: {failure(code, b''.join(self._says))}")


def each(
    work: Callable[[int], T],
    times: int,
    parallel: int,
    stop: Callable[[BaseException], object] = lambda error: None,
) -> list[T]:
    """Return the results of work(0), work(1), ..., with up to `parallel` concurrent calls. After the first error no call begins, and the
    error is raised.

    `stop`: ends running calls after an error, also when this process receives a signal to end.
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
    """Describe why a process failed: its output, and its exit code or signal."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    text = " ".join(says.decode(errors="replace").split())[:ERROR_CHARACTERS]
    return f"{text} ({how})" if text else how


def _line(report_file: IO[str]) -> dict[str, Any]:
    line = report_file.readline()
    report: dict[str, Any] = json.loads(line) if line else {}
    return report
