"""How a pod's main program ends: its last words go to Kubernetes' termination message."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from storebench.errors import StorebenchError

VARIABLE = "STOREBENCH_TERMINATION_LOG"  # for a run outside a pod
PATH = Path("/dev/termination-log")


class Killed(StorebenchError):
    """The pod was told to stop."""

    kind = "killed"
    exit_code = 143


def leave_message(text: str) -> None:
    """Hand `text` back. Outside a pod, where no path is given, it is only printed by the caller."""
    path = Path(os.environ.get(VARIABLE, PATH))
    if path.exists() or VARIABLE in os.environ:
        path.write_text(text)


def raise_on_sigterm() -> None:
    """Turn SIGTERM into Killed: a process with PID 1 ignores it otherwise, and the pod would hang until SIGKILL."""

    def _raise(signum: int, frame: object) -> None:
        raise Killed("The pod was told to stop before it had ended")

    signal.signal(signal.SIGTERM, _raise)
