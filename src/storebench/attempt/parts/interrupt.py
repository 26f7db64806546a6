"""Interrupt the main thread of a pod when another part of the operation has failed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

from storebench.errors import PartFailed

SIGNAL = signal.SIGUSR1
# A main thread inside a call of a C library, or waiting for threads of its own, does not see the error at once.
PATIENCE_S = 5.0


class Interrupt:
    """Raise an error of another thread in the main thread.

    `stuck`: called with the error if the main thread has not ended its work PATIENCE_S seconds after the error.
    """

    def __init__(self, stuck: Callable[[PartFailed], None] = lambda error: None) -> None:
        self._error: PartFailed | None = None
        self._raised = False
        self._over = threading.Event()
        self._first = threading.Lock()
        self._stuck = stuck
        # The handler stays: the signal's default action would kill the pod
        signal.signal(SIGNAL, lambda signum, frame: self._once())

    def fire(self, error: PartFailed) -> bool:
        """Raise the error in the main thread. Return False if an earlier error was raised, or the work is over."""
        with self._first:
            if self._error is not None or self._over.is_set():
                return False
            self._error = error
        threading.Thread(target=self._watch, args=(error,), name="part-failed", daemon=True).start()
        if (main := threading.main_thread().ident) is not None:
            signal.pthread_kill(main, SIGNAL)
        return True

    def check(self) -> None:
        """Raise the error of another thread if there is an error. Called in the main thread."""
        if self._error is not None and not self._over.is_set():
            self._raised = True
            raise self._error

    @property
    def fired(self) -> bool:
        """Return whether another part has failed."""
        return self._error is not None

    def end(self) -> None:
        """Raise no error from now on: the work is over."""
        self._over.set()

    def _once(self) -> None:
        if not self._raised:  # a second error would interrupt the clean-up after the first error
            self.check()

    def _watch(self, error: PartFailed) -> None:
        if not self._over.wait(PATIENCE_S):
            self._stuck(error)
