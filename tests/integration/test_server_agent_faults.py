"""The real agent causes faults of a small server, at the request of the real client."""

import signal
import threading
from datetime import datetime
from pathlib import Path

import pytest

from storebench.servers.agent import AgentRefused, AgentUnreachable
from tests.integration.watched import ask, exists, runs
from tests.ports import free_port


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_kill_ends_all_processes_and_the_agent_starts_the_server_again(container, tmp_path):
    port, mark = free_port(), tmp_path / "orphan"
    one = container(port=port, orphan=str(mark))
    before, orphan = one.agent.figures(), int(mark.read_text())
    assert runs(orphan)
    caused = one.agent.fault("kill", 0.3)
    after = one.agent.figures()
    assert caused.exit_code == 128 + signal.SIGKILL and caused.filled_bytes is None
    assert 0 < caused.began_after_s < caused.ended_after_s - 0.3 < caused.ready_after_s
    began, ended, ready = map(datetime.fromisoformat, (caused.began_at, caused.ended_at, caused.ready_at))
    assert began < ended < ready
    assert not exists(before.server_pid) and not exists(orphan)
    assert (after.restarts, after.agent_started_at) == (1, before.agent_started_at)
    assert ask(port, "GET", "/")[0] == 200
    one.agent.stop()  # also the new orphan, which holds this test's pipe


def test_a_command_of_the_topology_runs_beside_the_server_and_its_failure_is_told(container, tmp_path):
    mark = tmp_path / "mark"
    commands = {"COMPACT": f"sleep 0.3; echo $WHERE > {mark}", "BACKUP": "echo no room >&2; exit 3"}
    variables = {f"STOREBENCH_AGENT_COMMAND_{name}": command for name, command in commands.items()}
    one = container({**variables, "WHERE": "in the server's environment"}, port=free_port())
    before = one.agent.figures()
    caused = one.agent.fault("compact", 60)
    assert mark.read_text() == "in the server's environment\n"
    assert caused.ended_after_s - caused.began_after_s > 0.3 and caused.exit_code is None
    assert caused.ended_after_s < caused.ready_after_s < caused.ended_after_s + 5
    with pytest.raises(AgentRefused, match="backup ended with the exit code 3: no room"):
        one.agent.fault("backup", 60)
    with pytest.raises(AgentRefused, match="the fault is not known"):
        one.agent.fault("repair", 60)
    after = one.agent.figures()
    assert (after.server_pid, after.restarts) == (before.server_pid, 0)


def test_term_during_a_pause_continues_the_server_which_then_ends(container):
    one = container(port=free_port())
    pid = one.agent.figures().server_pid
    caused = one.agent.fault("pause", 0.1)
    assert caused.exit_code is None and state(pid) != "T"
    failed = []

    def pause():
        try:
            one.agent.fault("pause", 3600)
        except (AgentRefused, AgentUnreachable) as error:
            failed.append(error)

    pausing = threading.Thread(target=pause)
    pausing.start()
    one.wait_for(lambda: state(pid) == "T")
    one.process.send_signal(signal.SIGTERM)
    one.end(0)
    pausing.join(10)
    assert len(failed) == 1 and not exists(pid)


def test_the_nodes_own_disk_is_never_filled(container, tmp_path):
    one = container(port=free_port())
    assert one.data.stat().st_dev == one.message.stat().st_dev
    with pytest.raises(AgentRefused, match=r"the node's own disk.*choose another fault") as error:
        one.agent.fault("disk_full", 1)
    assert error.value.status == 409
    assert not list(one.data.iterdir())
