"""A program beside an attempt, which answers its commands: for clients that this process's Python cannot load."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from storebench.attempt import machine

END_TIMEOUT_S = 5


class Program:
    """A process that is asked by its stdin and answers by its stdout. Its stderr goes to a file without a name; where it dies, the last
    lines are the reason.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        encoding: str | None = None,
    ) -> None:
        """Raises OSError where it cannot be started. Without an encoding its pipes have bytes."""
        self._log: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        try:
            self.process: subprocess.Popen[Any] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=environment,
                encoding=encoding,
            )
        except OSError:
            self._log.close()
            raise

    def cpu_s(self) -> float:
        """Return the program's CPU seconds so far; 0 after its end."""
        return machine.process_cpu_s(self.process.pid)

    def close(self) -> None:
        """End it, by force if it does not go."""
        with suppress(BrokenPipeError), self.process:  # closes the pipes: the program ends with its stdin
            assert self.process.stdin is not None
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            try:
                self.process.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._log.close()

    def died(self) -> tuple[int | None, list[str]]:
        """Return the exit code of a program that gives no answer, None while it runs, and all lines of its output."""
        try:
            code: int | None = self.process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            code = None
        self._log.seek(0)
        return code, self._log.read().decode(errors="replace").strip().splitlines()


def last(lines: Sequence[str], count: int) -> str:
    """The last of them in one line."""
    return " | ".join(line.strip() for line in lines[-count:]) or "it said nothing"
