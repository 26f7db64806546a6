"""The real agent makes a small server cold."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from storebench.errors import VerificationFailed
from storebench.servers.agent import Agent, AgentRefused, AgentUnreachable, cold_together
from storebench.stores.caches import Cold, Servers
from tests.integration.watched import BINARY, MIB, NOBODY, TOKEN, ask, exists
from tests.ports import free_port


def test_a_cold_server_is_another_process_and_its_files_are_not_in_memory(container, tmp_path):
    port = free_port()
    one = container(port=port, data=str(tmp_path / "data"), data_bytes=8 * MIB)
    before = one.agent.figures()
    assert one.agent.resident().resident_bytes == 8 * MIB
    cold = one.agent.cold()
    after = one.agent.figures()
    assert (cold.resident_before_bytes, cold.total_bytes, cold.files) == (8 * MIB, 8 * MIB, 1)
    assert (
        cold.resident_after_drop_bytes
        == cold.resident_after_bytes
        == one.agent.resident().resident_bytes
        == 0
    )
    assert (cold.exit_code, cold.killed) == (0, False)
    assert 0 < cold.stop_s < 10 and 0 < cold.drop_s < 10 and 0 < cold.ready_s < 20
    assert after.server_pid != before.server_pid and not exists(before.server_pid)
    assert (before.restarts, after.restarts) == (0, 1)
    assert after.started_at > before.started_at
    assert after.agent_started_at == before.agent_started_at
    assert ask(port, "GET", "/")[0] == 200
    (tmp_path / "data" / "data").read_bytes()
    assert one.agent.resident().resident_bytes == 8 * MIB


def test_lukewarm_drops_and_leaves_the_server_running(container, tmp_path):
    one = container(port=free_port(), data=str(tmp_path / "data"), data_bytes=4 * MIB)
    pid = one.agent.figures().server_pid
    dropped = one.agent.lukewarm()
    assert (dropped.resident_before_bytes, dropped.resident_after_drop_bytes) == (4 * MIB, 0)
    assert one.agent.figures().server_pid == pid


def test_pages_that_the_server_has_mapped_stay_and_are_told(container, tmp_path):
    one = container(port=free_port(), data=str(tmp_path / "data"), data_bytes=4 * MIB, mapped=True)
    assert one.agent.lukewarm().resident_after_drop_bytes == 4 * MIB
    cold = one.agent.cold()
    assert cold.resident_after_drop_bytes == 0
    assert cold.resident_after_bytes == 4 * MIB  # it has mapped and read them again: no cold read can follow


def test_a_cold_read_meets_nothing_that_the_start_has_read_and_is_proven(container, tmp_path):
    port = free_port()
    one = container(port=port, data=str(tmp_path / "data"), data_bytes=8 * MIB, reads=True)
    assert one.agent.cold().resident_after_bytes >= 4 * MIB, "the start reads"
    servers = Servers([one.agent])
    cold = servers.make_cold(nullcontext(), 8 * MIB)
    assert cold == Cold(0, 0, 8 * MIB)
    before = servers.read_bytes()
    assert ask(port, "GET", "/read")[0] == 200
    assert "0 bytes in it before" in cold.prove("read", servers.read_bytes() - before)
    before = servers.read_bytes()
    ask(port, "GET", "/read")
    with pytest.raises(VerificationFailed, match=r"The read was not cold: .* 0 came from disk"):
        cold.prove("read", servers.read_bytes() - before)


def test_what_a_server_maps_at_its_start_is_not_read_in_a_cold_read(container, tmp_path):
    port = free_port()
    one = container(port=port, data=str(tmp_path / "data"), data_bytes=4 * MIB, mapped=True)
    servers = Servers([one.agent])
    cold = servers.make_cold(nullcontext(), 4 * MIB)
    assert cold == Cold(0, 4 * MIB, 4 * MIB)
    before = servers.read_bytes()
    ask(port, "GET", "/read")
    with pytest.raises(VerificationFailed, match="where it needs 4,194,304"):
        cold.prove("read", servers.read_bytes() - before)


@pytest.fixture
def nobodys(agent_built):
    """Yield the agent of a user without any rights, around a server, with a folder of data that it owns."""
    if os.geteuid() != 0:
        pytest.skip("only root can start a process of another user")
    folder = Path(tempfile.mkdtemp(prefix="agent-", dir="/var/tmp"))  # where that user may go
    folder.chmod(0o755)
    program, data = folder / "agent", folder / "data"
    subprocess.run([BINARY, "install", program], check=True)
    data.mkdir()
    (data / "own").write_bytes(b"x" * 5000)
    for path in (data, data / "own"):
        os.chown(path, NOBODY, NOBODY)
    agent = Agent("server-0", "127.0.0.1", TOKEN, free_port())
    environment = {
        "STOREBENCH_AGENT_TOKEN": TOKEN,
        "STOREBENCH_AGENT_PORT": str(agent.port),
        "STOREBENCH_AGENT_DATA": str(data),
        "PATH": os.environ["PATH"],
    }
    with subprocess.Popen(
        [program, "--", "sleep", "60"], env=environment, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/"
    ) as process:
        for _ in range(500):
            try:
                agent.version()
                break
            except AgentUnreachable:
                time.sleep(0.02)
        yield agent, data
        process.terminate()
    shutil.rmtree(folder)


def test_it_needs_no_rights(nobodys):
    agent, data = nobodys
    (data / "lost+found").mkdir(mode=0o700)  # as on a volume
    assert agent.lukewarm().resident_after_drop_bytes == 0
    figures = agent.figures()
    assert figures.data_bytes == 512 * (data / "own").stat().st_blocks
    assert figures.written_bytes is not None
    assert figures.notes == []


def test_of_other_users_files_it_does_not_believe_that_they_are_in_memory(nobodys):
    agent, data = nobodys
    (data / "others").write_bytes(b"x")
    with pytest.raises(AgentRefused, match=r"others belongs to user 0, .* run the container as its owner"):
        agent.resident()
    (data / "closed").mkdir(mode=0o700)
    with pytest.raises(AgentRefused, match=r"closed: permission denied: run the container as the user"):
        agent.resident()
    figures = agent.figures()
    assert figures.data_bytes is None
    assert "closed" in " ".join(figures.notes)


def test_a_server_that_is_deaf_to_term_is_killed(container):
    one = container(port=free_port(), deaf=True)
    cold = one.agent.cold(stop_timeout_s=0.3)
    assert cold.killed and cold.exit_code == 128 + signal.SIGKILL and cold.stop_s >= 0.3
    one.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    assert one.process.poll() is None  # it waits for the server, as Kubernetes waits for it


def test_a_server_that_does_not_answer_in_time_is_left_running(container):
    one = container(port=free_port(), after_s=3)
    with pytest.raises(AgentRefused, match=r"server-0 .*does not answer.*left running") as error:
        one.agent.cold(ready_timeout_s=0.5)
    assert error.value.status == 504
    assert one.agent.figures().restarts == 1
    assert one.agent.cold(ready_timeout_s=20).ready_s >= 3


def test_a_server_that_cannot_start_again_ends_the_container_with_its_code(container, tmp_path):
    one = container(port=free_port(), data=str(tmp_path / "data"), data_bytes=MIB, fails_again=True, code=7)
    with pytest.raises(AgentRefused, match=r"ended before it answered.*exit code 7"):
        one.agent.cold()
    one.end(7)
    assert json.loads(one.message.read_text())["exit_code"] == 7


def test_term_while_a_server_is_made_cold_ends_the_container(container):
    port = free_port()
    one = container(port=port, after_s=60)
    failed = []

    def ask_cold():
        try:
            one.agent.cold(ready_timeout_s=60)
        except AgentRefused as error:
            failed.append(error.status)

    asking = threading.Thread(target=ask_cold)
    asking.start()
    one.wait_for(lambda: one.agent.figures().restarts == 1)
    one.wait_for(lambda: ask(port, "GET", "/")[0] == 503)
    one.process.send_signal(signal.SIGTERM)
    one.end(0)
    asking.join(10)
    assert failed == [503]


def test_stop_and_start(container):
    port = free_port()
    one = container(port=port)
    assert one.agent.stop().exit_code == 0
    assert one.agent.figures().server_pid is None
    with pytest.raises(AgentRefused, match="does not run") as error:
        one.agent.cold()
    assert error.value.status == 409
    assert one.agent.start().ready_s > 0
    assert ask(port, "GET", "/")[0] == 200
    with pytest.raises(AgentRefused, match="runs already"):
        one.agent.start()
    one.agent.stop()
    one.process.send_signal(signal.SIGTERM)
    one.end(0)


def test_servers_that_belong_together_are_down_together(container, tmp_path):
    both = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        port = free_port()
        data = str(tmp_path / name / "data")
        both.append(container(folder=tmp_path / name, port=port, data=data, data_bytes=MIB))
        both[-1].agent = Agent(name, "127.0.0.1", TOKEN, both[-1].port)
    cold = cold_together([one.agent for one in both])
    assert sorted(cold) == ["a", "b"]
    for name in cold:
        assert cold[name].resident_before_bytes == MIB and cold[name].resident_after_bytes == 0
    assert [one.agent.figures().restarts for one in both] == [1, 1]
    # one that cannot be stopped: the other one runs again
    both[0].agent.stop()
    with pytest.raises(AgentRefused, match="does not run"):
        cold_together([one.agent for one in both])
    assert all(one.agent.figures().server_pid for one in both)


def test_without_a_way_to_see_readiness_a_cold_start_is_refused_before_the_stop(container):
    one = container({"STOREBENCH_AGENT_READY": ""})
    with pytest.raises(AgentRefused, match="set STOREBENCH_AGENT_READY"):
        one.agent.cold()
    assert one.agent.figures().restarts == 0


def test_an_open_port_is_an_answer_too(container):
    port = free_port()
    one = container({"STOREBENCH_AGENT_READY": f"tcp:{port}"}, port=port)
    assert one.agent.cold().ready_s > 0
