"""The real agent's figures of a container's cgroup."""

import os
import time
from pathlib import Path

import pytest

from storebench.attempt.cgroup import Cgroup
from storebench.attempt.usage import boot_id
from storebench.servers.agent import AgentRefused, Cpu
from tests.integration.watched import MIB, V1, V2, runs, write
from tests.ports import free_port


@pytest.mark.parametrize("files", [V1, V2])
def test_figures_are_those_of_the_cgroup(container, tmp_path, files):
    root = write(tmp_path / "cgroup", files)
    one = container({"STOREBENCH_AGENT_CGROUP": str(root)}, port=free_port())
    (one.data / "a").write_bytes(b"x" * 10_000)
    (one.data / "deep").mkdir()
    (one.data / "deep" / "b").write_bytes(b"x" * 100)
    (one.data / "same").hardlink_to(one.data / "a")
    figures = one.agent.figures()
    assert (figures.cpu_s, figures.throttled_s, figures.throttled_periods) == (2.5, 1.5, 4)
    assert figures.memory_working_set_bytes == figures.memory_working_set_peak_bytes == 150 * MIB
    assert figures.memory_working_set_bytes == Cgroup(root).memory_working_set_bytes()
    assert figures.oom_kills == 3
    assert (figures.read_bytes, figures.read_bytes_source) == (4106, "cgroup")
    if files is V2:
        assert (figures.written_bytes, figures.written_bytes_source) == (10, "cgroup")
    else:  # version 1 does not count what the kernel writes later
        assert figures.written_bytes_source == "processes"
    blocks = sum((one.data / name).stat().st_blocks for name in ("a", "deep/b"))
    assert figures.data_bytes == 512 * blocks > 0
    assert one.agent.cpu() == Cpu(2.5, boot_id())
    assert figures.restarts == 0
    assert runs(figures.server_pid)
    assert figures.agent_started_at <= figures.started_at
    assert figures.notes == []


@pytest.mark.parametrize("files", [V1, V2])
def test_a_measurement_is_the_difference_and_the_peak_since_begin(container, tmp_path, files):
    root = write(tmp_path / "cgroup", files)
    one = container({"STOREBENCH_AGENT_CGROUP": str(root)}, port=free_port())
    time.sleep(0.3)  # the first peak has been seen, and is to be forgotten
    v2 = files is V2
    usage = root / ("memory.current" if v2 else "memory/memory.usage_in_bytes")
    usage.write_text(f"{100 * MIB}\n")
    one.agent.begin()
    usage.write_text(f"{130 * MIB}\n")
    time.sleep(0.3)
    usage.write_text(f"{90 * MIB}\n")
    (one.data / "more").write_bytes(b"x" * 8192)
    if v2:
        (root / "cpu.stat").write_text("usage_usec 4500000\nnr_throttled 6\nthrottled_usec 1700000\n")
        (root / "io.stat").write_text("8:0 rbytes=5096 wbytes=2009 rios=1 wios=1\n8:16 rbytes=10 wbytes=1\n")
    else:
        (root / "cpuacct/cpuacct.usage").write_text("4500000000\n")
        (root / "cpu/cpu.stat").write_text("nr_throttled 6\nthrottled_time 1700000000\n")
        (root / "blkio/blkio.throttle.io_service_bytes").write_text("8:0 Read 5096\n8:16 Read 10\n")
    used = one.agent.end()
    assert used.cpu_s == pytest.approx(2)
    assert used.cores_usable == 0.5 == Cgroup(root).cpu_limit_cores()
    assert used.throttled_s == pytest.approx(0.2)
    assert (used.throttled_periods, used.oom_kills, used.restarts) == (2, 0, 0)
    assert used.memory_working_set_peak_bytes == 80 * MIB
    assert (used.read_bytes, used.read_bytes_source) == (1000, "cgroup")
    assert not v2 or (used.written_bytes, used.written_bytes_source) == (2000, "cgroup")
    assert used.data_added_bytes == used.data_bytes == 8192
    assert 0.3 <= used.seconds < 5
    assert 0 < used.agent_cpu_s < 1


@pytest.mark.parametrize(
    "files",
    [
        {**V1, "cpu/cpu.cfs_quota_us": "-1\n"},
        {**V2, "cpu.max": "max 100000\n"},
        {name: text for name, text in V2.items() if name != "cpu.max"},
        {**V2, "cpu.max": "99900000 100000\n"},
    ],
)
def test_without_a_cpu_limit_below_the_nodes_cores_a_container_may_use_all_of_them(
    container, tmp_path, files
):
    root = write(tmp_path / "cgroup", files)
    one = container({"STOREBENCH_AGENT_CGROUP": str(root)}, port=free_port())
    one.agent.begin()
    assert one.agent.end().cores_usable == len(os.sched_getaffinity(0))


def test_without_counts_of_the_cgroup_the_processes_own_are_taken(container, tmp_path):
    files = {name: text for name, text in V2.items() if name != "io.stat"}
    root = write(tmp_path / "cgroup", files)
    port = free_port()
    one = container(
        {"STOREBENCH_AGENT_CGROUP": str(root)}, port=port, data=str(tmp_path / "data"), data_bytes=MIB
    )
    figures = one.agent.figures()
    assert (figures.read_bytes_source, figures.written_bytes_source) == ("processes", "processes")
    assert figures.written_bytes >= MIB
    one.agent.cold()  # what the server had counted before its end is still in
    assert one.agent.figures().written_bytes >= figures.written_bytes


def test_what_cannot_be_read_is_null_with_a_note(container, tmp_path):
    one = container({"STOREBENCH_AGENT_CGROUP": str(tmp_path / "nowhere"), "STOREBENCH_AGENT_DATA": ""})
    figures = one.agent.figures()
    assert figures.cpu_s is figures.memory_working_set_bytes is figures.data_bytes is None
    assert len(figures.notes) == 2
    assert one.agent.cpu() == Cpu(None, boot_id())
    with pytest.raises(AgentRefused, match="set STOREBENCH_AGENT_DATA"):
        one.agent.resident()


@pytest.mark.skipif(not Path("/sys/fs/cgroup").exists(), reason="no cgroup is mounted")
def test_figures_of_this_machines_own_cgroup(container):
    one = container(port=free_port(), memory_bytes=50 * MIB)
    own = Cgroup()
    figures = one.agent.figures()
    assert figures.memory_working_set_bytes == (
        None
        if own.memory_working_set_bytes() is None
        else pytest.approx(own.memory_working_set_bytes(), rel=0.2)
    )
    assert figures.cpu_s is None or figures.cpu_s == pytest.approx(own.cpu().cpu_s, rel=0.05, abs=2)


def test_an_end_without_a_begin_is_refused(container):
    one = container()
    with pytest.raises(AgentRefused, match=r"nothing was begun.*started anew") as error:
        one.agent.end()
    assert error.value.status == 409
    one.agent.begin()
    one.agent.end()
    with pytest.raises(AgentRefused):
        one.agent.end()
