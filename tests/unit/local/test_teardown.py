import json
import subprocess

import pytest

from local.stack import cgroup, network, packet_filter, teardown
from local.stack.settings import Settings


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path / "home")


@pytest.fixture
def hierarchies(monkeypatch, tmp_path):
    """Return an empty version 1 tree of cgroups."""
    root = tmp_path / "cgroup"
    for name in ("pids", "memory"):
        (root / name).mkdir(parents=True)
        (root / name / "cgroup.procs").write_text("1\n")
    monkeypatch.setattr(cgroup, "processes", lambda name, _=None: real_processes(name, root))
    monkeypatch.setattr(cgroup, "groups", lambda name, _=None: real_groups(name, root))
    return root


real_processes, real_groups = cgroup.processes, cgroup.groups


@pytest.fixture
def links(monkeypatch):
    found = []
    monkeypatch.setattr(network.shutil, "which", lambda name: f"/sbin/{name}")
    monkeypatch.setattr(network, "_ip", lambda *arguments: json.dumps(found))
    monkeypatch.setattr(packet_filter, "_saved", lambda family: {})  # that of this machine is not asked
    return found


def test_a_stack_that_was_stopped_has_no_remains(settings, hierarchies, links):
    links.append({"ifname": "storebench0", "ifalias": "storebench stack in /another/home"})
    (settings.run / "buildah").mkdir(parents=True)  # the set-up's
    assert teardown.remains(settings) == []


def test_each_mark_of_a_stack_that_was_not_stopped_is_found(settings, hierarchies, links):
    group = hierarchies / "pids" / settings.cgroup / "pod"
    group.mkdir(parents=True)
    (group / "cgroup.procs").write_text("4001\n4002\n")
    links.append({"ifname": "renamed0", "ifalias": f"storebench stack in {settings.home}"})
    settings.run.mkdir(parents=True)
    (settings.run / "fingerprint").touch()
    assert teardown.remains(settings) == [
        "2 processes",
        "a cgroup",
        "the network link renamed0",
        f"state in {settings.run}",
    ]


def test_what_another_home_s_dead_stack_has_left_is_removed_and_a_living_one_is_not(
    settings, hierarchies, links, tmp_path
):
    homes = {name: tmp_path / name for name in ("dead", "living")}
    for number, home in enumerate(homes.values()):
        links.append({"ifname": f"storebench{number}", "ifalias": f"storebench stack in {home}"})
        (home / "run").mkdir(parents=True)
    group = hierarchies / "pids" / Settings(home=homes["living"]).cgroup
    group.mkdir()
    (group / "cgroup.procs").write_text("4001\n")
    said = []
    teardown.remove_abandoned(settings, said.append)
    assert said == [
        f"the stack in {homes['dead']} was not stopped when it ended: removing what is left of it"
    ]
    assert [name for name, home in homes.items() if (home / "run").exists()] == ["living"]


def test_only_mounts_below_the_home_are_its_own_the_innermost_first(settings, tmp_path):
    points = [
        "/",
        f"{settings.home}",
        f"{settings.home}/a",
        f"{settings.home}/a/b",
        f"{settings.home}-other/c",
    ]
    table = tmp_path / "mountinfo"
    table.write_text("".join(f"1 0 0:1 / {point} rw - tmpfs tmpfs rw\n" for point in points))
    assert teardown.mounts(settings, table) == [f"{settings.home}/a/b", f"{settings.home}/a"]


def test_steps_that_outlived_their_make_are_ended_and_no_others(settings):
    mine = subprocess.Popen(
        ["sleep", "60"], env={"PATH": "/bin:/usr/bin", "STOREBENCH_SETUP": str(settings.home)}
    )
    other = subprocess.Popen(
        ["sleep", "60"], env={"PATH": "/bin:/usr/bin", "STOREBENCH_SETUP": f"{settings.home}2"}
    )
    try:
        teardown.end_setup(settings)
        assert mine.wait(5) == -9
        assert other.poll() is None
    finally:
        for process in (mine, other):
            process.kill()
            process.wait()


def test_an_unknown_command_is_refused(capsys):
    assert teardown.main(["destroy"]) == 2
    assert "stop | clean" in capsys.readouterr().err
