"""The fault of an attempt, by the agent of a server: a stub that answers as the agent does."""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import pytest

from storebench.attempt import fault
from storebench.attempt.fault import Happened, Injection
from storebench.attempt.spec import AttemptSpec
from storebench.errors import BrokenPromise, FaultFailed, StoreRefused, StoreUnreachable, VerificationFailed
from storebench.servers.agent import Agent
from storebench.servers.fault import LONGEST_S
from storebench.servers.watch import Watch

CAUSED = {
    "began_after_s": 0.01,
    "ended_after_s": 0.05,
    "ready_after_s": 0.1,
    "exit_code": 137,
    "filled_bytes": None,
}
CAUSED |= {"began_at": "2026-11-27T12:00:00.01Z", "ended_at": "2026-11-27T12:00:00.05Z"}
CAUSED |= {"ready_at": "2026-11-27T12:00:00.1Z"}
LATE_S = 0.05  # from the agent's last moment to its answer


class StubAgent(BaseHTTPRequestHandler):
    status, asked = 200, None

    def do_POST(self):
        type(self).asked = (self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        time.sleep(CAUSED["ready_after_s"] + LATE_S)
        told = CAUSED if self.status == 200 else {"title": "Not ready", "detail": "it does not answer"}
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def agent(monkeypatch):
    """Start an agent of the server mongodb-x1-0, which is the only server of this attempt."""
    with ThreadingHTTPServer(("127.0.0.1", 0), StubAgent) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        agents = [Agent("mongodb-x1-0", "127.0.0.1", "t", server.server_port)]
        watch = Watch(agents, holding=["mongodb-x1-0"], set_id="x1")
        monkeypatch.setattr(fault.Watch, "from_environment", classmethod(lambda cls: watch))
        yield StubAgent
        server.shutdown()


def injection(**axes):
    spec = AttemptSpec(
        *("write", "k", "s", "mongodb", "direct"),
        axes=axes,
        rows=1,
        seed=1,
        target="t",
        bucket="b",
        dataset=None,
        results="r/",
        options={"fault_for_s": "0.04", "fault_server": "mongodb-0"},
    )
    return Injection(spec)


def recording():
    """Return an attempt that only records metrics."""
    attempt = SimpleNamespace(metrics={}, metric=lambda name, value: attempt.metrics.update({name: value}))
    return attempt


def test_the_times_of_the_agent_are_on_the_pods_clock_and_their_error_is_bounded(agent):
    one, at_s = injection(fault="kill"), time.monotonic() + 0.2
    one.at(at_s)
    assert one.begun
    found = one.happened()
    path, body = agent.asked
    assert path == "/v1/fault" and (body["fault"], body["for_s"]) == ("kill", 0.04)
    assert found.server == "mongodb-x1-0" and found.began_s >= at_s + CAUSED["began_after_s"]
    assert found.healed_s - found.began_s == pytest.approx(0.09)
    assert found.skew_s >= LATE_S
    since = found.since(found.began_s)
    assert (since.began_s, since.skew_s) == (0, found.skew_s) and since.healed_s == pytest.approx(0.09)


def test_a_maintenance_has_the_time_of_its_command_and_no_planned_duration(agent):
    one = injection(fault="compact")
    one.at(0.0)
    found = one.happened()
    _, body = agent.asked
    assert (body["fault"], body["for_s"]) == ("compact", LONGEST_S)
    assert found.command_s == pytest.approx(0.04) and found.said == "the command at mongodb-x1-0 took 0.0 s"
    recorder = recording()
    found.since(found.began_s).report(recorder)
    assert recorder.metrics["fault_to_s"] == pytest.approx(0.09)
    assert set(recorder.metrics) == {"fault_from_s", "fault_to_s", "fault_skew_s", "command_s"}


def test_the_command_of_a_webhook_lasts_from_the_request_to_the_answer(agent):
    (url,) = (f"http://127.0.0.1:{one.port}/" for one in fault.Watch.from_environment().agents)
    one = injection(fault="backup", fault_url=url)
    one.at(0.0)
    found = one.happened()
    assert agent.asked == ("/", {"fault": "backup", "server": "mongodb-0", "for_s": 0})
    assert found.command_s == found.healed_s - found.began_s == found.skew_s > LATE_S


def test_a_server_that_does_not_come_back_fails_the_fault(agent, monkeypatch):
    monkeypatch.setattr(agent, "status", 504)
    one = injection(fault="restart")
    one.at(0.0)
    with pytest.raises(
        FaultFailed, match=r"The fault 'restart' failed: .*\(504\): Not ready. it does not answer"
    ):
        one.happened()


def test_a_load_that_fails_before_its_fault_has_no_fault(agent, monkeypatch):
    monkeypatch.setattr(agent, "asked", None)
    one = injection(fault="kill")
    one.at(time.monotonic() + 60)
    one.cancel()
    one.wait()
    assert agent.asked is None
    with pytest.raises(FaultFailed, match="the load ended before the fault"):
        one.happened()


def test_an_attempt_without_a_fault_does_nothing():
    one = injection()
    one.at(0.0)
    one.wait()
    assert one.planned is None and not one.begun


def asked(one, *errors, refused=StoreRefused):
    """Return the moments at which `answer` asks a store that raises these errors, one at each try, and then answers."""
    left, asked_s = [*errors], []

    def ask():
        asked_s.append(time.monotonic())
        if left:
            raise left.pop(0)
        return "there"

    assert one.answer(ask, refused) == "there"
    return asked_s


def test_a_store_is_asked_after_the_fault_until_it_answers(agent):
    one = injection(fault="kill")
    one.at(0.0)
    asked_s = asked(one, StoreRefused("not yet"), StoreRefused("not yet"))
    assert len(asked_s) == 3 and asked_s[0] >= one.happened().healed_s


def test_a_store_that_never_answers_is_given_up_and_another_error_at_once(agent, monkeypatch):
    monkeypatch.setattr(fault, "HEALED_WITHIN_S", 0.1)
    one = injection(fault="kill")
    one.at(0.0)
    with pytest.raises(StoreUnreachable, match=r"did not work again within 0 s after the fault: not yet"):
        asked(one, *[StoreRefused("not yet")] * 3)
    with pytest.raises(VerificationFailed, match="other rows"):
        asked(one, VerificationFailed("other rows"))


def test_a_loss_is_recorded_and_judged_by_the_guarantee():
    one, attempt = injection(fault="kill"), recording()
    assert one.judge(attempt, 0, 0, None) == "the kill lost nothing and doubled nothing"
    assert attempt.metrics == {"lost_acknowledged": 0, "doubled": 0}
    cost = "1,200 acknowledged writes are lost and 1 are there twice after the kill"
    assert (
        one.judge(attempt, 1200, 1, None) == f"{cost}; the store does not guarantee that a kill loses nothing"
    )
    attempt = recording()
    with pytest.raises(BrokenPromise, match=f"{cost}, although the store guarantees: it is on disk"):
        one.judge(attempt, 1200, 1, "it is on disk")
    assert attempt.metrics == {"lost_acknowledged": 1200, "doubled": 1}


def test_the_times_of_a_fault_are_relative_to_the_load():
    assert Happened("a", 5.0, 8.0, 0.1).since(2.0) == Happened("a", 3.0, 6.0, 0.1)
