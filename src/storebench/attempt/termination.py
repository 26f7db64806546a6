"""End a pod's main program: write Kubernetes' termination message, and handle SIGTERM."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from storebench.errors import StorebenchError

VARIABLE = "STOREBENCH_TERMINATION_LOG"  # for a run outside a pod
PATH = Path("/dev/termination-log")


class Killed(StorebenchError):
    """Something stopped the pod by SIGTERM. If it was Kubernetes, the error has its reason, such as EvictionByEvictionAPI for a drained node."""

    kind = "killed"
    exit_code = 143


def leave_message(text: str) -> None:
    """Write `text` to the termination message. Do nothing outside a pod unless the environment names a file."""
    path = Path(os.environ.get(VARIABLE, PATH))
    if path.exists() or VARIABLE in os.environ:
        path.write_text(text)


def raise_on_sigterm() -> None:
    """Raise Killed on SIGTERM: a process with PID 1 ignores the signal by default, and the pod would hang until SIGKILL."""

    def _raise(signum: int, frame: object) -> None:
        raise Killed("The pod was told to stop before it had ended")

    signal.signal(signal.SIGTERM, _raise)
