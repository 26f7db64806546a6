"""Run the load generators of an attempt: processes that begin together, and whose requests are combined."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from storebench.errors import StoreRefused

# gevent must patch Python's library before other imports.
PROGRAM = "from gevent import monkey; monkey.patch_all(); from storebench.stores.point_operations import load; load.main()"
READY = "ready"  # the line of a load generator that is ready
READY_TIMEOUT_S = 120.0
LEAD_S = 0.5  # least seconds from a command to begin until all begin
END_TIMEOUT_S = 60.0  # seconds to wait for the end, beside the timeout of a request
COUNTS = re.compile(r"\d+ \d+ \d+")
_TICKS = os.sysconf("SC_CLK_TCK")


class Answered(NamedTuple):
    """Numbers of requests: answered within the limit, and failed, of a part of the schedule; and without an answer, of all parts."""

    in_time: int
    failed: int
    in_flight: int


class Generators:
    """The processes of `jobs`. A context manager, which ends the processes."""

    def __init__(self, jobs: Sequence[Mapping[str, Any]]) -> None:
        self._jobs = jobs
        self._processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        try:
            for job in self._jobs:
                process = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
                self._processes.append(process)
                assert process.stdin is not None
                process.stdin.write(json.dumps(job) + "\n")
                process.stdin.flush()
            for process in self._processes:
                if (said := _line(process, READY_TIMEOUT_S)) != READY:
                    raise StoreRefused(
                        f"A load generator did not become ready, and said {said!r}: its log says why"
                    )
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()

    def begin(self, begin_s: float) -> None:
        """Start all load generators at a second of the monotonic clock, at least LEAD_S ahead."""
        self._say(str(begin_s))

    def answered(self, part: int) -> Answered:
        """Return the counts of a part of the schedule so far. Raises StoreRefused if a load generator does not report them."""
        self._say(str(part))
        answers = [_line(process, READY_TIMEOUT_S) for process in self._processes]
        if not all(COUNTS.fullmatch(answer) for answer in answers):
            raise StoreRefused(
                f"A load generator said {answers} in the place of its figures: its log says why"
            )
        return Answered(*map(sum, zip(*(map(int, answer.split()) for answer in answers), strict=True)))

    def step(self, from_s: float, rate: float, seconds: float) -> None:
        """Plan a further part of the schedule. `from_s`: seconds from the load's begin to the start of the part."""
        self._say(f"step {from_s} {rate} {seconds}")

    def drop(self) -> None:
        """Tell the load generators to forget planned requests that have not begun."""
        self._say("drop")

    def end(self) -> None:
        """Tell the load generators to begin no more requests."""
        self._say("end")

    def _say(self, word: str) -> None:
        for process in self._processes:
            assert process.stdin is not None
            try:
                process.stdin.write(f"{word}\n")
                process.stdin.flush()
            except BrokenPipeError:
                raise StoreRefused("A load generator has ended too early: its log says why") from None

    def wait_until(self, at_s: float) -> None:
        """Wait until a second. Raises StoreRefused if a load generator ends earlier."""
        while (remaining_s := at_s - time.monotonic()) > 0:
            time.sleep(min(0.2, remaining_s))
            for process in self._processes:
                if process.poll() is not None:
                    raise StoreRefused(
                        f"A load generator ended with {process.returncode} while it was measured: its log says why"
                    )

    def files(self, timeout_s: float) -> list[Path]:
        """Wait for the end of the load generators, and return their logs. `timeout_s`: the timeout of a request."""
        until_s = time.monotonic() + timeout_s + END_TIMEOUT_S
        for process in self._processes:
            try:
                code = process.wait(max(0.0, until_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise StoreRefused(
                    f"A load generator did not end within {timeout_s + END_TIMEOUT_S:.0f} s: requests hang"
                ) from None
            if code:
                raise StoreRefused(f"A load generator ended with {code}: its log says why")
        return [Path(job["file"]) for job in self._jobs]

    def cpu_s(self) -> float:
        """Return the CPU seconds of all load generators so far, including ended ones."""
        ended = os.times()
        return ended.children_user + ended.children_system + sum(map(_cpu_s, self._processes))


def _cpu_s(process: subprocess.Popen[str]) -> float:
    if process.returncode is not None:
        return 0.0
    try:
        stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(stat[11]) + int(stat[12])) / _TICKS


def _line(process: subprocess.Popen[str], timeout_s: float) -> str:
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], timeout_s)[0]:
        return f"nothing within {timeout_s:.0f} s"
    return process.stdout.readline().strip()
