"""Which servers are stopped, and what stopping one leaves."""

import io
import os
import time

import pytest

from local.progress import Screen
from local.stack import idle, jobs, lifecycle, parts, render, supervisor, waiting
from local.stack.settings import Settings


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """A stack whose two servers `make` has asked for 31 minutes ago."""
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
    """Answers of Airflow's and of the results' database: whether there is a run, and the stores that runs have needed lately."""
    known = {"going": False, "needed": []}

    def answer(uri, question, *values):
        if uri == "postgresql://airflow":
            assert question == idle.GOING
            return known["going"]
        minutes, stores = values
        assert (uri, question, minutes) == ("postgres://results", idle.NEEDED, 30)
        return bool(set(stores) & set(known["needed"]))

    monkeypatch.setattr(idle, "_true", answer)
    return known


def test_servers_that_nobody_has_asked_for_are_found(settings, databases):
    assert idle.servers(settings) == ["elasticsearch", "mongodb"]


def test_a_server_that_make_has_asked_for_lately_stays(settings, databases):
    _asked(settings, "mongodb", minutes=29)
    assert idle.servers(settings) == ["elasticsearch"]


def test_a_server_that_a_run_has_needed_lately_stays(settings, databases):
    databases["needed"] = ["elasticsearch", "null"]
    assert idle.servers(settings) == ["mongodb"]


def test_while_there_is_a_run_all_servers_stay(settings, databases):
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
    """What the supervisor was told to stop."""
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


def test_what_a_server_needs_is_done_again_before_it_starts_again(settings, monkeypatch):
    begun = []
    monkeypatch.setattr(supervisor, "start_process", lambda _, name: begun.append(name))
    monkeypatch.setattr(supervisor, "run_job", lambda _, name: begun.append(f"{name}, to its end"))
    monkeypatch.setattr(waiting, "wait", lambda *_: {})
    lifecycle._add(settings, frozenset({"mongodb"}), Screen(io.StringIO()))
    assert begun == ["postgres-documentdb", "documentdb, to its end", "ferretdb"]
