"""What the supervisor's states mean."""

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
