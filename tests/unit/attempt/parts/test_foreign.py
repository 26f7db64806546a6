"""A follower in another language, on a machine whose clock is far ahead: only the lines of docs/protocol.md count."""

import json
import socket
import time

import pytest

from tests.unit.attempt.parts.planted import REQUESTS

AHEAD_S = 1000.0
LATE_S = 0.3
WORK_S = 0.5


class Foreign:
    """A follower that speaks to the leader by lines of JSON."""

    def __init__(self, pod):
        port = int(pod.environment["STOREBENCH_PARTS_PORT"])
        deadline_s = time.monotonic() + 20
        while True:
            try:
                self.connection = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                assert time.monotonic() < deadline_s
                time.sleep(0.05)
        self.lines = self.connection.makefile("r")
        self.send({"key": "secret", "part": 1, "pod": "foreign", "node": "far"})

    def send(self, content):
        self.connection.sendall(json.dumps(content).encode() + b"\n")

    def now_s(self):
        return time.monotonic() + AHEAD_S

    def ask(self, name, value):
        """Say a value for a step, answer all pings, and return the leader's answer."""
        self.send({"say": name, "value": value})
        for text in self.lines:
            line = json.loads(text)
            if "clock" in line:
                self.send({"clock": line["clock"], "at_s": self.now_s()})
            else:
                assert line.get("answer") == name, line
                return line["value"]
        raise AssertionError("the leader has closed the connection")


@pytest.fixture
def foreign(pods):
    """Start a leader, and return it with a foreign follower."""
    leader = pods("asking", 2, missing=[1])[0]
    return leader, Foreign(leader)


def test_a_follower_with_another_clock_begins_with_the_leader(foreign, logs):
    leader, follower = foreign
    assert follower.ask("first", 4) == 4, "the leader decides for the least number"
    begin_s = follower.ask("begin", 0)
    assert 0 < begin_s - follower.now_s() < 2
    time.sleep(begin_s + LATE_S - follower.now_s())
    began_s = follower.now_s()
    end_s = began_s + WORK_S
    answer = follower.ask("ended", {"begin_s": began_s, "end_s": end_s, "cpu_s": 2.5, "boot_id": "far"})
    assert answer["cpu_s"]["far"] == 2.5 and len(answer["cpu_s"]) == 2
    figures = {"metrics": {"asked_bytes": 1000, "slowest_s": 0.25, "asking_s": WORK_S}, "cpu_s": 2.5}
    tally = {"numbers": sum(range(REQUESTS // 2, REQUESTS))}
    assert follower.ask("result", {"result": {"status": "verified", **figures}, "tally": tally}) is None
    follower.connection.close()

    code, whole = leader.ended()
    assert (code, whole.status) == (0, "verified"), whole.error
    (log,) = logs()
    assert begin_s - AHEAD_S == pytest.approx(log["begin"], abs=0.005)
    assert whole.start_skew_s == pytest.approx(began_s - AHEAD_S - log["began"], abs=0.01)
    assert whole.metrics["asking_s"] == pytest.approx(LATE_S + WORK_S, abs=0.05)
    assert whole.metrics["slowest_s"] == 0.25
    (row,) = [row for row in whole.usage if row["role"] == "client"]
    assert (row["name"], row["node"], row["part"], row["cpu_s"]) == ("foreign", "far", 1, 2.5)
    assert row["client_cpu_share"] is None
    assert row["start_delay_s"] == pytest.approx(LATE_S, abs=0.05)


@pytest.mark.parametrize(
    ("step", "value"), [("begin", "soon"), ("ended", {"begin_s": 1}), ("result", {"result": {"x": 1}})]
)
def test_a_step_without_its_value_ends_the_attempt(foreign, step, value):
    leader, follower = foreign
    follower.ask("first", 0)
    steps = {"begin": 0, "ended": {"begin_s": 1, "end_s": 2, "cpu_s": 0, "boot_id": ""}}
    for name, right in steps.items():
        if name == step:
            break
        follower.ask(name, right)
    follower.send({"say": step, "value": value})
    told = [json.loads(line) for line in follower.lines]
    assert told[-1]["failed"]["error_kind"] == "bad_result"
    _, whole = leader.ended()
    assert whole.error_kind == "bad_result"
    assert f"Part 1 (pod foreign) said for the step '{step}'" in whole.error
