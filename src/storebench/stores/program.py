"""Run a program beside an attempt that answers commands, for clients that this process's Python cannot load."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from storebench.attempt import machine

END_TIMEOUT_S = 5


class Program:
    """A process that gets commands on stdin and answers on stdout. Its stderr goes to an unnamed file, whose last lines explain its
    death.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        encoding: str | None = None,
    ) -> None:
        """Start the program. Raises OSError if it cannot be started. `encoding`: None for pipes of bytes."""
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
        """End the program, by force if necessary."""
        with (
            suppress(BrokenPipeError),
            self.process,
        ):  # closes the pipes: the program ends when its stdin ends
            assert self.process.stdin is not None
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            try:
                self.process.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._log.close()

    def died(self) -> tuple[int | None, list[str]]:
        """Return the exit code of a program that did not answer (None while it runs), and all lines of its stderr."""
        try:
            code: int | None = self.process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            code = None
        self._log.seek(0)
        return code, self._log.read().decode(errors="replace").strip().splitlines()


def last(lines: Sequence[str], count: int) -> str:
    """Join the last `count` lines."""
    return " | ".join(line.strip() for line in lines[-count:]) or "it said nothing"
