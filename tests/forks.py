"""Start the pods of one operation as processes of this machine."""

import multiprocessing
import os
import signal
import time

from storebench.attempt.parts.environment import NODE, POD
from storebench.attempt.termination import VARIABLE as MESSAGE

MOST_S = 60  # a process that lives longer has hung
FORKS = multiprocessing.get_context("forkserver")
_preloaded = []


def preload(*modules):
    """Let the server of forks import these modules, too. A process has one such server, so all tests share the list."""
    _preloaded.extend(module for module in modules if module not in _preloaded)
    FORKS.set_forkserver_preload(_preloaded)


preload("tests.forked")


class ForkedPod:
    """A process that does a part of an operation by the function `main(environment, output)`."""

    def __init__(self, folder, number, environment, main):
        self.output, self.message = folder / f"output-{number}", folder / f"message-{number}"
        self.environment = {
            **environment,
            MESSAGE: str(self.message),
            POD: f"pod-{number}",
            NODE: f"node-{number}",
        }
        self.process = FORKS.Process(target=main, args=(self.environment, str(self.output)))
        self.process.start()

    def ended(self):
        """Wait for the end. Return the exit code and the termination message."""
        self.process.join(MOST_S)
        assert self.process.exitcode is not None, self.output.read_text()
        return self.process.exitcode, self.message.read_text() if self.message.exists() else ""

    def prints(self, text):
        """Wait until the process has printed a text."""
        deadline_s = time.monotonic() + MOST_S
        while not self.output.exists() or text not in self.output.read_text():
            assert time.monotonic() < deadline_s and self.process.is_alive(), self.output.read_text()
            time.sleep(0.01)

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)

    def end(self):
        """End the process if it still runs."""
        if self.process.is_alive():
            self.kill()
        self.process.join()


def redirect(output):
    """Write everything that this process prints to a file."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
