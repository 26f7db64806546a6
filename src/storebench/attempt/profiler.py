"""Sample the stacks of an attempt's process and of its child processes in Python, by py-spy.

py-spy is a child process that reads the memory of this process. It needs no capability, as both processes have the same user. Where the Yama
module of the kernel lets only ancestors read a process, this process permits its own descendants.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any

from storebench.protocol.profiles import OF_WALL, packed, stacks_of
from storebench.redact import redacted
from storebench.study.observing import WALL

NAME = "python"  # of the profile; a profile of wall time has another name
HZ = 100
READY, READY_S = "Sampling process", 20.0  # what py-spy says when it samples, and the most seconds until then
END_S = 30.0  # the most seconds in which py-spy writes the stacks
REASON_CHARACTERS = 300
NO_SAMPLES = "no Python process of this pod used the CPU: the client's work is in other processes"

_SET_PTRACER = 0x59616D61  # PR_SET_PTRACER of prctl(2)
# The frame of a process: no function may follow. A command may have semicolons and line breaks
_PROCESS = re.compile(r'process (\d+):"(.*?)"(?:;|(?= \d+$))', re.DOTALL | re.MULTILINE)
# Stacks of the attempt's program right before and right after the store's work
_OUTSIDE = re.compile(r"(^|;)(Attempt\.)?operation \([^;)]*attempt/run\.py\)")


class Profiler:
    """A sampler that begins before an operation and ends with the operation. Its failures give a reason, no error."""

    def __init__(self, profile: str) -> None:
        """`profile`: storebench.study.observing.PROFILES."""
        self._waiting = profile == WALL  # sample threads that wait, too
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._unknown: str | None = "the operation did not begin"

    def begin(self) -> None:
        """Start the sampler, and wait until it samples."""
        try:
            self._begin()
        except OSError as error:
            self._unknown = f"py-spy cannot be started: {error.strerror or error}"

    def end(self) -> None:
        """Tell the sampler that the operation has ended, without waiting."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def taken(self) -> dict[str, dict[str, Any]]:
        """Return the profile as a result has it (storebench.protocol.profiles.SCHEMA), and end the sampler."""
        name = NAME + (OF_WALL if self._waiting else "")
        profile: dict[str, Any] = {"sampler": f"py-spy {_version()}".strip(), "hz": HZ}
        try:
            stacks = self._stacks()
        except OSError as error:
            self._unknown = self._unknown or f"py-spy left no stacks: {error.strerror or error}"
        if self._unknown is None and not stacks:
            self._unknown = NO_SAMPLES
        if self._unknown is not None:
            return {
                name: {**profile, "unknown": " ".join(redacted(self._unknown).split())[:REASON_CHARACTERS]}
            }
        content, dropped = packed(stacks)
        return {name: {**profile, "samples": stacks.total(), "dropped_samples": dropped, "stacks": content}}

    def _begin(self) -> None:
        program = shutil.which(
            "py-spy", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        )
        if program is None:
            self._unknown = "the image has no py-spy"
            return
        # Without Yama the call fails, and is not needed
        ctypes.CDLL(None).prctl(_SET_PTRACER, os.getpid(), 0, 0, 0)
        self._folder = tempfile.TemporaryDirectory(prefix="profile-")
        command = [program, "record", "--pid", str(os.getpid()), "--subprocesses", "--rate", str(HZ)]
        command += ["--format", "raw", "--nolineno", "--output", str(self._file("stacks"))]
        command += ["--idle"] if self._waiting else []
        with self._file("log").open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        until_s = time.monotonic() + READY_S
        while READY not in self._said():
            if self._process.poll() is not None or time.monotonic() > until_s:
                said, _, _ = self._said().partition("Stack backtrace")
                self._unknown = f"py-spy did not begin (does the container forbid tracing?): {said.strip() or 'it said nothing'}"
                return
            time.sleep(0.005)
        self._unknown = None

    def _stacks(self) -> Counter[str]:
        """Wait for the sampler's end, and return the number of samples by stack."""
        if self._process is None or self._folder is None:
            return Counter()
        try:
            self.end()
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._unknown = self._unknown or f"py-spy did not end within {END_S:.0f} s"
            if self._unknown is not None:
                return Counter()
            return _of_operation(self._file("stacks").read_text(errors="replace"), os.getpid())
        finally:
            self._process.kill()
            self._process.wait()
            self._folder.cleanup()

    def _said(self) -> str:
        return self._file("log").read_text(errors="replace")

    def _file(self, name: str) -> Path:
        assert self._folder is not None
        return Path(self._folder.name, name)


def _of_operation(raw: str, own: int) -> Counter[str]:
    """Return the stacks of the store's work. `own`: the process whose frame is removed.

    The frame of a child process has the name of its program alone: the arguments may differ in each attempt.
    """

    def named(frame: re.Match[str]) -> str:
        if int(frame[1]) == own:
            return ""
        command = frame[2].split()
        return f"process {Path(command[0]).name if command else 'unknown'};"

    stacks = stacks_of(_PROCESS.sub(named, raw))
    return Counter({stack.rstrip(";"): n for stack, n in stacks.items() if not _OUTSIDE.search(stack)})


def _version() -> str:
    try:
        return metadata.version("py-spy")
    except metadata.PackageNotFoundError:
        return ""
