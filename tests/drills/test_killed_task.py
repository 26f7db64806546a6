"""A write whose Airflow task is killed while the pod writes."""

import re

import psutil
import pytest

from storebench.results.database.queries import Queries
from tests.drills.drill import pid
from tests.e2e.harness import NAMESPACE, soon

OF_A_TASK = re.compile(r"airflow worker -- .*[0-9a-f-]{36}")


def processes():
    """Return the process that watches the running task, and the task's process."""
    found = psutil.Process(pid("airflow-scheduler")).children(recursive=True)
    of_a_task = [process for process in found if OF_A_TASK.search(" ".join(process.cmdline()))]
    parents = {process.ppid() for process in of_a_task}
    (watching,) = [process for process in of_a_task if process.pid in parents]
    (working,) = [process for process in of_a_task if process.ppid() == watching.pid]
    return watching, working


@pytest.mark.parametrize("worker", [False, True], ids=["task", "worker"])
def test_a_write_outlives_its_task(drill, say, worker):
    """Airflow notices the end of a task's process at once. The end of a worker it notices by its missing heartbeats, after
    [scheduler] task_instance_heartbeat_timeout: 300 s.
    """
    run = drill()
    pod = run.measured("write")
    watching, working = processes()
    for process in [watching, working] if worker else [working]:
        process.kill()
    run.must_end(
        f"kill -9 of a {'worker and its task' if worker else 'task'} in the middle of a write", "success"
    )
    (row,) = [one for one in run.rows() if one["pod"] == pod.metadata.name]
    assert (row["operation"], row["status"], row["try_number"]) == ("write", "verified", 1)
    assert row["value"] > 0 and not row["disturbed"]
    phases = [phase["name"] for phase in Queries(run.database).phases([row["attempt_id"]])]
    assert "operation" in phases and "queued" not in phases, "nobody knows when the killed task began to wait"
    of_the_run = f"run_id={pod.metadata.labels['run_id']}"
    soon(lambda: not run.cluster.list_namespaced_pod(NAMESPACE, label_selector=of_the_run).items, 60)
    say(f"its pod {pod.metadata.name} was picked up: verified, once, in its own time")
