"""The real agent as the first process of a container, and its interface."""

import json
import os
import resource
import signal
import socket
import subprocess
import threading
import time

import pytest

import storebench
from storebench.servers.agent import Agent, AgentRefused
from tests.integration.watched import BINARY, TOKEN, V2, ask, exists, runs, write
from tests.ports import free_port

pytestmark = pytest.mark.usefixtures("agent_built")


def test_it_says_this_version(container):
    assert container().agent.version() == storebench.__version__
    assert subprocess.check_output([BINARY, "version"], text=True).strip() == storebench.__version__


def test_output_and_signals_pass_through_and_term_ends_it_with_the_servers_code(container):
    one = container(port=free_port())
    one.process.send_signal(signal.SIGUSR1)
    time.sleep(0.2)
    one.process.send_signal(signal.SIGTERM)
    out, err = one.end(0)
    assert out == "to stdout\ngot USR1\n"
    assert err == "to stderr\n"
    assert one.message.read_text() == ""  # its end was asked for


def test_the_server_sees_nothing_of_the_agents_variables(container, tmp_path):
    seen = tmp_path / "environment"
    one = container({"SOMETHING": "else"}, environment=str(seen))
    one.wait_for(lambda: seen.exists() and seen.read_text())
    found = json.loads(seen.read_text())
    assert found["SOMETHING"] == "else"
    assert not [name for name in found if name.startswith("STOREBENCH_AGENT_")]
    assert found == {
        name: text
        for name, text in one.environment.items()
        if text and not name.startswith("STOREBENCH_AGENT_")
    }


def test_the_server_has_the_limit_of_open_files_that_it_would_have_without():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = subprocess.check_output(
        [BINARY, "--", "sh", "-c", "ulimit -Sn; ulimit -Hn"],
        env=os.environ | {"STOREBENCH_AGENT_TOKEN": TOKEN, "STOREBENCH_AGENT_PORT": str(free_port())},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1000, hard)),
        text=True,
    )
    assert found.split() == ["1000", str(hard)]
    assert hard > 1000


def test_orphans_are_taken_in_and_end_with_the_server(container, tmp_path):
    mark = tmp_path / "orphan"
    one = container(orphan=str(mark), port=free_port())
    orphan = int(mark.read_text())
    assert runs(orphan)
    os.kill(orphan, signal.SIGKILL)
    one.wait_for(lambda: not exists(orphan))  # no zombie is left
    one.agent.cold(ready_timeout_s=20)
    second = int(mark.read_text())
    assert second != orphan and runs(second)
    one.agent.stop()
    assert not exists(second)


@pytest.mark.parametrize("code", [0, 3])
def test_it_ends_with_the_server_and_leaves_a_message(container, tmp_path, code):
    one = container(write(tmp_path / "cgroup", V2) and {"STOREBENCH_AGENT_CGROUP": str(tmp_path / "cgroup")},
                    port=free_port(), dies_s=1.5, code=code)  # fmt: skip
    one.agent.begin()
    _, err = one.end(code)
    message = json.loads(one.message.read_text())
    assert f"the server ended by itself: exit code {code} after " in message["message"]
    assert message["exit_code"] == code
    assert message["figures"]["cpu_s"] == 2.5
    assert message["figures"]["server_pid"] is None
    assert message["since_begin"]["cpu_s"] == 0
    assert len(one.message.read_bytes()) < 4096
    assert json.dumps(message["message"]) in err


def test_a_killed_server_gives_the_shells_code(container):
    one = container(port=free_port())
    os.kill(one.agent.figures().server_pid, signal.SIGKILL)
    one.end(128 + signal.SIGKILL)
    assert "(signal: killed)" in json.loads(one.message.read_text())["message"]


def test_one_operation_at_a_time(container):
    one = container(port=free_port(), after_s=2)
    asking = threading.Thread(target=one.agent.cold)
    asking.start()
    one.wait_for(lambda: one.agent.figures().restarts == 1)
    for refused in (one.agent.begin, one.agent.lukewarm, one.agent.stop, one.agent.cold):
        with pytest.raises(AgentRefused, match="/v1/cold, for ") as error:
            refused()
        assert error.value.status == 409
    asking.join(20)
    one.agent.begin()


@pytest.mark.parametrize(
    "header", [{}, {"Authorization": TOKEN}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}]
)
def test_without_the_token_only_the_version_is_told(container, header):
    one = container()
    assert ask(one.port, "GET", "/v1/health", header)[0] == 200
    for method, path in (("GET", "/v1/figures"), ("POST", "/v1/cold"), ("GET", "/other")):
        status, kind, text = ask(one.port, method, path, header)
        assert (status, kind) == (401, "application/problem+json")
        assert "Authorization: Bearer TOKEN" in json.loads(text)["detail"]
    assert one.agent.figures().restarts == 0
    with pytest.raises(AgentRefused, match="another run") as error:
        Agent("server-0", "127.0.0.1", "wrong", one.port).figures()
    assert error.value.status == 401


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("GET", "/v1/nothing", None, 404, "no such path"),
        ("GET", "/v1/cold", None, 405, "POST /v1/cold"),
        ("POST", "/v1/cold", "{", 400, "stop_timeout_s"),
        ("POST", "/v1/cold", '{"stop_timeout": 1}', 400, "stop_timeout_s"),
        ("POST", "/v1/cold", '{"stop_timeout_s": -1}', 400, "at most 3600"),
        ("POST", "/v1/cold", '{"ready_timeout_s": 1e9}', 400, "at most 3600"),
        ("POST", "/v1/cold", "[1]", 400, "JSON object"),
        ("POST", "/v1/begin", " " * 5000, 413, "at most 4096 bytes"),
    ],
)  # fmt: skip
def test_bad_requests_are_told_what_to_do(container, method, path, body, status, says):
    one = container()
    found, kind, text = ask(one.port, method, path, {"Authorization": f"Bearer {TOKEN}"}, body)
    assert (found, kind) == (status, "application/problem+json")
    problem = json.loads(text)
    assert problem["status"] == status
    assert says in f"{problem['title']} {problem['detail']}"


def test_many_connections_that_say_nothing_do_not_shut_others_out(container):
    one = container()
    silent = [socket.create_connection(("127.0.0.1", one.port)) for _ in range(20)]
    assert one.agent.version()
    for each in silent:
        each.close()


@pytest.mark.parametrize(
    ("variables", "code", "says"),
    [
        ({"STOREBENCH_AGENT_TOKEN": ""}, 2, "set STOREBENCH_AGENT_TOKEN"),
        ({"STOREBENCH_AGENT_PORT": "70000"}, 2, "STOREBENCH_AGENT_PORT: \"70000\" is no port"),
        ({"STOREBENCH_AGENT_DATA": "data"}, 2, "must begin with a slash"),
        ({"STOREBENCH_AGENT_READY": "udp:1"}, 2, "neither tcp:PORT nor http://"),
        ({"PATH": "/nowhere"}, 127, "cannot start the server"),
    ],
)  # fmt: skip
def test_bad_settings_are_told_before_the_server_starts(tmp_path, variables, code, says):
    environment = {"STOREBENCH_AGENT_TOKEN": TOKEN, "PATH": "/usr/bin:/bin", **variables}
    done = subprocess.run(
        [BINARY, "--", "touch", tmp_path / "started"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == code
    assert says in done.stderr
    assert not (tmp_path / "started").exists()


def test_a_taken_port_is_told(tmp_path):
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        environment = {"STOREBENCH_AGENT_TOKEN": TOKEN, "STOREBENCH_AGENT_PORT": str(taken.getsockname()[1])}
        done = subprocess.run(
            [BINARY, "--", "/bin/true"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert done.returncode == 2
    assert "another port in STOREBENCH_AGENT_PORT" in done.stderr


def test_it_installs_itself(tmp_path):
    target = tmp_path / "agent"
    subprocess.run([BINARY, "install", target], check=True)
    assert target.read_bytes() == BINARY.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o755
    assert list(tmp_path.iterdir()) == [target]
    for bad, says in ((tmp_path, "is a folder"), (tmp_path / "no" / "agent", "mount a volume")):
        done = subprocess.run([BINARY, "install", bad], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert says in done.stderr


def test_it_is_static():
    assert (
        "not a dynamic executable"
        in subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=False).stderr
    )
