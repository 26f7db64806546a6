"""Start the parts of an operation as processes of this machine."""

import json
import multiprocessing
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from storebench.attempt.result import AttemptResult
from tests.unit.attempt.parts import planted

MOST_S = 30  # a process that lives longer has hung
# One process imports the modules, and all parts are its forks
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.unit.attempt.parts.planted"])


class Pod:
    """A process that does a part."""

    def __init__(self, folder, number, environment):
        self.output, self.message = folder / f"output-{number}", folder / f"message-{number}"
        environment = {
            **environment,
            "STOREBENCH_TERMINATION_LOG": str(self.message),
            "STOREBENCH_POD": f"pod-{number}",
            "STOREBENCH_NODE": f"node-{number}",
            planted.LOG: str(folder),
        }
        self.environment = environment
        self.process = FORKS.Process(target=planted.main, args=(environment, str(self.output)))
        self.process.start()

    def ended(self):
        """Wait for the end. Return the exit code and the result, None without a message."""
        self.process.join(MOST_S)
        assert self.process.exitcode is not None, self.output.read_text()
        message = self.message.read_text() if self.message.exists() else ""
        return self.process.exitcode, AttemptResult.from_json(message) if message else None

    def prints(self, text):
        """Wait until the process has printed a text."""
        deadline_s = time.monotonic() + MOST_S
        while not self.output.exists() or text not in self.output.read_text():
            assert time.monotonic() < deadline_s and self.process.is_alive(), self.output.read_text()
            time.sleep(0.01)

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)


@pytest.fixture
def pods(tmp_path):
    """Return a function that starts the parts of an operation and returns them by number."""
    started = []

    def start(store, count, missing=(), wait_s=20, followers=None, merges=planted.MERGES, **more):
        common = {
            "STOREBENCH_CONN_S3": "{}",
            "STOREBENCH_ATTEMPT": planted.spec_of(store, merges).to_json(),
            **{name: str(value) for name, value in more.items()},
        }
        if count > 1:
            common |= {
                "STOREBENCH_PARTS": str(count),
                "STOREBENCH_PARTS_KEY": "secret",
                "STOREBENCH_PARTS_WAIT_S": str(wait_s),
                "STOREBENCH_PARTS_PORT": str(free_port()),
            }
        running = {0: Pod(tmp_path, 0, common)}
        for number in set(range(1, count)) - set(missing):
            follower = {"STOREBENCH_LEADER": "127.0.0.1", "JOB_COMPLETION_INDEX": str(number - 1)}
            running[number] = Pod(tmp_path, number, {**common, **follower, **(followers or {})})
        started.extend(running.values())
        return running

    yield start
    for pod in started:
        if pod.process.is_alive():
            pod.kill()
        pod.process.join()


@pytest.fixture
def logs(tmp_path):
    """Return a function that returns the parts' logs of all requests."""
    return lambda: [json.loads(Path(file).read_text()) for file in sorted(tmp_path.glob("log-*.json"))]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
