"""Start the parts of an operation as processes of this machine."""

import json
from pathlib import Path

import pytest

from storebench.attempt.result import AttemptResult
from tests.forks import ForkedPod
from tests.ports import free_port
from tests.unit.attempt.parts import planted


class Pod(ForkedPod):
    """A process that does a part of an attempt."""

    def __init__(self, folder, number, environment):
        super().__init__(folder, number, {**environment, planted.LOG: str(folder)}, planted.main)

    def ended(self):
        """Wait for the end. Return the exit code and the result, None without a message."""
        code, message = super().ended()
        return code, AttemptResult.from_json(message) if message else None


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
        pod.end()


@pytest.fixture
def logs(tmp_path):
    """Return a function that returns the parts' logs of all requests."""
    return lambda: [json.loads(Path(file).read_text()) for file in sorted(tmp_path.glob("log-*.json"))]
