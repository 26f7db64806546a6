import http.server
import json
import socket
import threading
import time

import pytest

from storebench.errors import KIND_OF_EXIT_CODE
from storebench.servers import agent as agents
from storebench.servers.agent import Agent, AgentRefused, AgentUnreachable, cold_together

FIGURES = {
    "version": "0.1.0", "cpu_s": 3, "memory_working_set_bytes": 5, "memory_working_set_peak_bytes": 6, "throttled_s": None,
    "throttled_periods": None, "oom_kills": 0, "read_bytes": 7, "read_bytes_source": "cgroup", "written_bytes": None,
    "written_bytes_source": None, "data_bytes": 9, "restarts": 0, "server_pid": None, "started_at": "2026-01-01T00:00:00Z",
    "agent_started_at": "2026-01-01T00:00:00Z", "agent_cpu_s": 0.5, "agent_rss_bytes": 4, "notes": ["a note"],
}  # fmt: skip
RESIDENT = {"resident_bytes": 9, "total_bytes": 10, "files": 1}
STOPPED = {"stop_s": 0.5, "exit_code": 0, "killed": False}
DROPPED = {
    "drop_s": 0.1,
    "resident_before_bytes": 1,
    "resident_after_drop_bytes": 0,
    "total_bytes": 10,
    "files": 1,
}
STARTED = {"ready_s": 2.5}
CAUSED = {
    "began_after_s": 0.001, "ended_after_s": 5.5, "ready_after_s": 7, "began_at": "2026-01-01T00:00:00Z",
    "ended_at": "2026-01-01T00:00:05.5Z", "ready_at": "2026-01-01T00:00:07Z", "exit_code": 137, "filled_bytes": None,
}  # fmt: skip


class Fake(http.server.ThreadingHTTPServer):
    """A fake agent that answers each path with a test's status and object or bytes, and keeps its requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {}
        self.asked = []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(
            (self.command, self.path, self.headers["Authorization"], json.loads(body or "null"))
        )
        status, answer = self.server.answers[self.path]
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def fake():
    server = Fake()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def agent(fake):
    return Agent("mongodb-0", "127.0.0.1", "secret", fake.server_address[1])


def test_figures_are_what_the_agent_says_and_the_token_is_sent(fake, agent):
    fake.answers["/v1/figures"] = (200, FIGURES | {"of_a_newer_agent": 1})
    figures = agent.figures()
    assert vars(figures) == FIGURES
    assert fake.asked == [("GET", "/v1/figures", "Bearer secret", None)]


@pytest.fixture
def waits(monkeypatch):
    """Return the time limits of the requests."""
    limits = []
    ask = agents.http_client.ask

    def asked(*args, timeout_s, **kwargs):
        limits.append(timeout_s)
        return ask(*args, timeout_s=timeout_s, **kwargs)

    monkeypatch.setattr(agents.http_client, "ask", asked)
    return limits


def test_a_fault_sends_its_limits_and_waits_for_as_long_as_they_allow(fake, agent, waits):
    fake.answers["/v1/fault"] = (200, CAUSED)
    assert vars(agent.fault("kill", 5, stop_timeout_s=7, ready_timeout_s=11)) == CAUSED
    body = {"fault": "kill", "for_s": 5, "stop_timeout_s": 7, "ready_timeout_s": 11}
    assert fake.asked == [("POST", "/v1/fault", "Bearer secret", body)]
    assert waits == [5 + 7 + 11 + agents.WORK_TIMEOUT_S]


def test_a_cold_start_sends_its_limits_and_waits_for_as_long_as_they_allow(fake, agent, waits):
    fake.answers["/v1/cold"] = (200, STOPPED | DROPPED | STARTED | {"resident_after_bytes": 3})
    cold = agent.cold(stop_timeout_s=7, ready_timeout_s=11)
    assert (cold.ready_s, cold.resident_after_bytes, cold.killed) == (2.5, 3, False)
    assert fake.asked == [("POST", "/v1/cold", "Bearer secret", {"stop_timeout_s": 7, "ready_timeout_s": 11})]
    assert waits == [7 + 11 + agents.WORK_TIMEOUT_S]


@pytest.mark.parametrize(
    ("call", "path", "answer"),
    [
        (Agent.begin, "/v1/begin", {"began_at": "2026-01-01T00:00:00Z"}),
        (Agent.cpu, "/v1/cpu", {"cpu_s": 2.5, "boot_id": "machine"}),
        (Agent.resident, "/v1/resident", RESIDENT),
        (Agent.lukewarm, "/v1/lukewarm", DROPPED),
        (Agent.stop, "/v1/stop", STOPPED),
        (Agent.start, "/v1/start", STARTED),
    ],
)
def test_each_call_asks_its_path(fake, agent, call, path, answer):
    fake.answers[path] = (200, answer)
    found = call(agent)
    assert found is None or vars(found) == answer
    assert fake.asked[0][0] == ("GET" if call in (Agent.cpu, Agent.resident) else "POST")


def test_the_token_is_not_shown(agent):
    assert "secret" not in repr(agent)


def test_a_refusal_names_the_pod_and_what_to_do(fake, agent):
    problem = {"status": 409, "title": "nothing was begun", "detail": "ask /v1/begin first"}
    fake.answers["/v1/end"] = (409, problem)
    with pytest.raises(
        AgentRefused, match=r"pod mongodb-0 refuses /v1/end \(409\): nothing was begun. ask /v1/begin"
    ) as error:
        agent.end()
    assert error.value.status == 409
    assert KIND_OF_EXIT_CODE[error.value.exit_code] == error.value.kind == "store_failed"


def test_a_wrong_token_is_explained(fake, agent):
    fake.answers["/v1/figures"] = (401, {})
    with pytest.raises(
        AgentRefused, match=r"pod mongodb-0 refuses this run's token.*Remove the servers"
    ) as error:
        agent.figures()
    assert error.value.status == 401
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("answer", [b"<html>", b"[1]", b"", b'{"a": ' + b"1" * 70_000])
def test_what_is_no_agent_is_said(fake, agent, answer):
    fake.answers["/v1/figures"] = (200, answer)
    with pytest.raises(
        AgentRefused, match=r"Another program than the agent answers \S+ in pod mongodb-0 at port \d+"
    ):
        agent.figures()


def test_another_service_that_fails_is_said(fake, agent):
    fake.answers["/v1/figures"] = (502, b"<html>")
    with pytest.raises(AgentRefused, match=r"mongodb-0 refuses /v1/figures \(502\): no reason"):
        agent.figures()


@pytest.mark.parametrize(
    "change", [{"cpu_s": "3"}, {"cpu_s": True}, {"restarts": 0.5}, {"restarts": None}, {"version": None}, {"notes": "a"}]
)  # fmt: skip
def test_an_answer_that_is_not_as_agreed_is_refused(fake, agent, change):
    fake.answers["/v1/figures"] = (200, FIGURES | change)
    with pytest.raises(
        AgentRefused, match=f"no valid '{next(iter(change))}'.*the version that this Storebench has"
    ):
        agent.figures()


def test_a_missing_figure_is_refused(fake, agent):
    fake.answers["/v1/figures"] = (
        200,
        {name: value for name, value in FIGURES.items() if name != "data_bytes"},
    )
    with pytest.raises(AgentRefused, match="no valid 'data_bytes': None"):
        agent.figures()


def test_where_nothing_listens_the_pod_is_named(agent, fake):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with pytest.raises(
        AgentUnreachable, match=r"pod mongodb-0 does not answer GET /v1/figures.*kubectl describe pod"
    ) as error:
        Agent("mongodb-0", "127.0.0.1", "secret", port).figures()
    assert KIND_OF_EXIT_CODE[error.value.exit_code] == error.value.kind == "unreachable"


def test_an_agent_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr(agents, "TIMEOUT_S", 0.2)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        hanging = Agent("mongodb-0", "127.0.0.1", "secret", one.getsockname()[1])
        began = time.monotonic()
        with pytest.raises(AgentUnreachable, match="timed out"):
            hanging.figures()
        assert time.monotonic() - began < 5


def test_an_answer_that_breaks_off_is_unreachable(monkeypatch):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()

        def answer():
            connection, _ = one.accept()
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(AgentUnreachable, match="mongodb-0"):
            Agent("mongodb-0", "127.0.0.1", "secret", one.getsockname()[1]).figures()
        thread.join()


def test_the_environments_proxy_is_not_asked(fake, agent, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    fake.answers["/v1/health"] = (200, {"version": "0.1.0"})
    assert agent.version() == "0.1.0"


def test_servers_that_belong_together_are_all_down_before_any_starts(fake, agent):
    fake.answers = {
        "/v1/resident": (200, RESIDENT),
        "/v1/stop": (200, STOPPED),
        "/v1/lukewarm": (200, DROPPED),
        "/v1/start": (200, STARTED),
    }
    other = Agent("mongodb-1", "127.0.0.1", "secret", agent.port)
    cold = cold_together([agent, other], stop_timeout_s=5, ready_timeout_s=6)
    assert [path for _, path, _, _ in fake.asked] == [
        path for path in ("/v1/resident", "/v1/stop", "/v1/lukewarm", "/v1/start", "/v1/resident") for _ in range(2)
    ]  # fmt: skip
    assert sorted(cold) == ["mongodb-0", "mongodb-1"]
    # before is before the stop, after is when they answer
    assert (cold["mongodb-1"].resident_before_bytes, cold["mongodb-1"].resident_after_bytes) == (9, 9)
    assert cold["mongodb-1"].ready_s == 2.5


def test_servers_are_started_again_if_their_files_cannot_be_dropped(fake, agent):
    fake.answers = {
        "/v1/resident": (200, RESIDENT),
        "/v1/stop": (200, STOPPED),
        "/v1/lukewarm": (500, {"title": "the data's files cannot be read", "detail": "/data"}),
        "/v1/start": (200, STARTED),
    }
    with pytest.raises(AgentRefused, match="cannot be read"):
        cold_together([agent])
    assert fake.asked[-1][1] == "/v1/start"
