"""The meaning of the supervisor's states."""

import pytest

from local.stack import supervisor
from local.stack.settings import Settings, StackError


def state(name, status, exit_code=0):
    return {"name": name, "status": status, "exit_code": exit_code, "is_running": status == "Running"}


def test_a_job_that_failed_is_named_before_those_that_waited_for_it(tmp_path):
    states = [state("kubelet", "Skipped", 1), state("etcd", "Running"), state("images", "Completed", 1)]
    with pytest.raises(StackError, match="images ended with exit code 1"):
        supervisor.failures(Settings(home=tmp_path), states)


def test_what_runs_or_has_done_its_work_is_no_failure(tmp_path):
    states = [state("etcd", "Running"), state("images", "Completed")]
    supervisor.failures(Settings(home=tmp_path), states)


@pytest.fixture
def supervised(monkeypatch, tmp_path):
    """Set up a supervisor that reports these states of a job in order."""
    monkeypatch.setattr(supervisor.time, "sleep", lambda _: None)
    monkeypatch.setattr(supervisor, "start_process", lambda *_: None)

    def answers(*states):
        known = iter([[state] for state in states])
        monkeypatch.setattr(supervisor, "processes", lambda _: next(known))
        return known, Settings(home=tmp_path)

    return answers


def test_the_end_of_an_earlier_job_is_not_taken_for_the_end_of_this_one(supervised):
    earlier = {**state("documentdb", "Completed"), "pid": 1}
    now = {**state("documentdb", "Running"), "pid": 2}
    left, settings = supervised(earlier, earlier, {**now, "pid": 1}, now, {**earlier, "pid": 2})
    supervisor.run_job(settings, "documentdb")
    assert next(left, None) is None


def test_a_job_that_fails_says_so(supervised):
    _, settings = supervised(
        {**state("documentdb", "Disabled"), "pid": 0}, {**state("documentdb", "Completed", 1), "pid": 2}
    )
    with pytest.raises(StackError, match="documentdb ended with exit code 1"):
        supervisor.run_job(settings, "documentdb")
