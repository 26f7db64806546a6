"""Stops of idle servers, and the marks after a stop."""

import io
import os
import shlex
import subprocess
import sys
import time

import pytest

from local.progress import Screen
from local.stack import environment, idle, jobs, lifecycle, parts, render, services, supervisor, waiting
from local.stack.settings import Settings, StackError


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """Return a stack whose two servers `make` requested 31 minutes ago."""
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "postgresql+psycopg2://airflow")
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgres://results")
    settings = Settings(home=tmp_path, own=frozenset(), idle_minutes=30)
    (tmp_path / "steps").mkdir()
    settings.run.mkdir()
    settings.log.mkdir()
    parts.record(settings, {"elasticsearch", "mongodb"})
    for name in ("elasticsearch", "mongodb"):
        _asked(settings, name, minutes=31)
    return settings


def _asked(settings, name, minutes):
    at = time.time() - minutes * 60
    os.utime(settings.run / "servers" / name, (at, at))


@pytest.fixture
def databases(monkeypatch):
    """Answers of Airflow's and of the results' database: whether there is a run, and the servers that runs have needed lately."""
    known = {"going": False, "needed": []}

    def answer(uri, question, *values):
        if uri == "postgresql://airflow":
            assert question == idle.OPEN_RUNS
            return known["going"]
        minutes, server = values
        assert (uri, question, minutes) == ("postgres://results", idle.NEEDED, 30)
        return server in known["needed"]

    monkeypatch.setattr(idle, "_true", answer)
    return known


def test_servers_that_nobody_has_asked_for_are_found(settings, databases):
    assert idle.servers(settings) == ["elasticsearch", "mongodb"]


def test_a_server_that_make_has_asked_for_lately_stays(settings, databases):
    _asked(settings, "mongodb", minutes=29)
    assert idle.servers(settings) == ["elasticsearch"]


def test_a_server_that_a_run_has_needed_lately_stays(settings, databases):
    databases["needed"] = ["elasticsearch"]
    assert idle.servers(settings) == ["mongodb"]


def test_while_there_is_a_run_all_servers_stay(settings, databases):
    databases["going"] = True
    assert idle.servers(settings) == []


def test_the_cluster_s_services_stop_soon_after_the_last_run_and_never_during_one(settings, databases):
    databases["needed"] = ["elasticsearch", "mongodb"]
    parts.record(settings, {"services"})
    assert idle.servers(settings) == [], "a run may be about to begin"
    _asked(settings, "services", minutes=3)
    assert idle.servers(settings) == ["services"]
    databases["going"] = True
    assert idle.servers(settings) == []


def test_no_database_is_asked_without_a_server_that_could_be_stopped(settings, monkeypatch):
    monkeypatch.setattr(idle, "_true", lambda *_: pytest.fail("asked"))
    for name in ("elasticsearch", "mongodb"):
        _asked(settings, name, minutes=1)
    assert idle.servers(settings) == []


def test_a_database_that_is_away_ends_nothing(settings, monkeypatch, capsys):
    rounds = iter([None, None])
    monkeypatch.setattr(idle.time, "sleep", lambda _: next(rounds))
    monkeypatch.setattr(idle, "Settings", lambda: settings)
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "postgresql+psycopg2://127.0.0.1:1/none")
    with pytest.raises(StopIteration):  # the rounds are over
        idle.main()
    assert capsys.readouterr().out.count("connection") >= 2


@pytest.fixture
def stopped(monkeypatch, settings, databases):
    """Collect the supervisor's orders to stop."""
    calls = []
    states = [
        {
            "name": name,
            "namespace": process["namespace"],
            "status": "Completed" if name == "documentdb" else "Running",
        }
        for name, process in render.project(settings)["processes"].items()
    ]
    monkeypatch.setattr(supervisor, "processes", lambda _: states)
    monkeypatch.setattr(supervisor, "stop_process", lambda _, name: calls.append(name))
    render.write_fingerprint(settings)
    return calls


def test_a_server_s_running_processes_are_stopped_last_one_first_and_the_next_up_starts_it(
    settings, databases, stopped
):
    databases["needed"] = ["elasticsearch"]
    said = []
    lifecycle.stop_idle(settings, said.append)
    assert stopped == ["ferretdb", "postgres-documentdb"]
    assert parts.started(settings) == {"elasticsearch"}
    assert said == ["stopping mongodb: no run has needed it for 30 minutes"]
    assert (settings.run / "fingerprint").read_text() == render.fingerprint(settings), "the others go on"


def test_what_the_cluster_s_services_have_changed_ends_with_them(settings, databases, stopped, monkeypatch):
    databases["needed"] = ["elasticsearch", "mongodb"]
    parts.record(settings, {"services"})
    render.write_fingerprint(settings)
    _asked(settings, "services", minutes=3)
    monkeypatch.setattr(services, "end", lambda _: stopped.append("end"))
    said = []
    lifecycle.stop_idle(settings, said.append)
    assert set(stopped[:-1]) >= {"kube-proxy", "coredns", "local-path-provisioner", "services-controllers"}
    assert stopped[-1] == "end"
    assert parts.started(settings) == {"elasticsearch", "mongodb"}
    assert said == ["stopping services: no run has needed it for 2 minutes"]


def test_what_has_changed_since_the_start_is_still_noticed(settings, stopped):
    (settings.run / "fingerprint").write_text("of the start")
    lifecycle.stop_idle(settings, lambda _: None)
    assert (settings.run / "fingerprint").read_text() == "of the start"


def test_neither_a_stopped_server_nor_restarts_of_long_ago_fail_the_next_start(settings, monkeypatch):
    parts.forget(settings, "elasticsearch")
    running = {
        "namespace": "kubernetes",
        "status": "Running",
        "is_running": True,
        "exit_code": 0,
        "restarts": 3,
    }
    ended = {
        "namespace": "elasticsearch",
        "status": "Completed",
        "is_running": False,
        "exit_code": 143,
        "restarts": 0,
    }
    states = [{"name": "etcd", **running}, {"name": "elasticsearch", **ended}]
    monkeypatch.setattr(supervisor, "processes", lambda _: states)
    monkeypatch.setattr(jobs, "airflow_variables", lambda _: None)
    waiting.wait(settings, [], Screen(io.StringIO()))


@pytest.fixture
def started(monkeypatch):
    """Collect the supervisor's orders to start, and the waits after them."""
    calls = []
    monkeypatch.setattr(supervisor, "start_process", lambda _, name: calls.append(name))
    monkeypatch.setattr(supervisor, "run_job", lambda _, name: calls.append(name))
    monkeypatch.setattr(waiting, "wait", lambda _, names, screen: calls.append(f"wait for {names}") or {})
    return calls


@pytest.mark.parametrize("recorded", ["the same", "of the start"])
def test_a_run_wakes_a_server_that_was_stopped_and_a_change_of_the_checkout_is_still_noticed(
    settings, started, recorded
):
    (settings.home / "steps" / "elasticsearch-1").touch()
    parts.forget(settings, "elasticsearch")
    render.write_fingerprint(settings)
    if recorded == "of the start":
        (settings.run / "fingerprint").write_text(recorded)
    lifecycle.wake(settings, frozenset({"elasticsearch"}), Screen(io.StringIO()))
    assert started == ["elasticsearch", "wait for ['elasticsearch']"]
    assert "elasticsearch" in parts.started(settings)
    noticed = (settings.run / "fingerprint").read_text() != render.fingerprint(settings)
    assert noticed == (recorded == "of the start")


def test_a_server_that_another_run_has_just_woken_is_waited_for(settings, started):
    (settings.home / "steps" / "elasticsearch-1").touch()
    render.write_fingerprint(settings)
    lifecycle.wake(settings, frozenset({"elasticsearch"}), Screen(io.StringIO()))
    assert started == ["wait for ['elasticsearch']"]


def test_what_was_never_built_is_not_woken(settings, started):
    (settings.home / "steps" / "elasticsearch-1").touch()
    with pytest.raises(StackError, match="mongodb was not built yet"):
        lifecycle.wake(settings, frozenset({"elasticsearch", "mongodb"}), Screen(io.StringIO()))
    assert not started


def test_the_stack_tells_airflow_how_to_wake_a_server(settings, monkeypatch):
    """The command works in any folder; here it finds that nothing was built."""
    (settings.home / "venv").symlink_to(sys.prefix)
    variables = environment.build(settings, render.secrets(settings), {})
    command = shlex.split(variables["STOREBENCH_WAKE"])
    monkeypatch.setenv("STOREBENCH_HOME", str(settings.home))
    done = subprocess.run([*command, "mongodb"], cwd="/", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "mongodb was not built yet\n")


def test_what_a_server_needs_is_done_again_before_it_starts_again(settings, monkeypatch):
    begun = []
    monkeypatch.setattr(supervisor, "start_process", lambda _, name: begun.append(name))
    monkeypatch.setattr(supervisor, "run_job", lambda _, name: begun.append(f"{name}, to its end"))
    monkeypatch.setattr(waiting, "wait", lambda *_: {})
    lifecycle._add(settings, frozenset({"mongodb"}), Screen(io.StringIO()))
    assert begun == ["postgres-documentdb", "documentdb, to its end", "ferretdb"]
