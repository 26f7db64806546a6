"""Disturb runs on purpose, and check the properties that must hold afterwards."""

import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager

from airflow.providers.cncf.kubernetes.pod_generator import make_safe_label_value

from local.stack import health, supervisor
from local.stack.settings import Settings
from storebench.cli.airflow_api import Airflow
from storebench.cli.environment import airflow_login
from storebench.results.database.queries import Queries, counts
from storebench.results.database.repository import Repository, run_id_of
from storebench.study.cell import Cell
from tests.e2e.harness import NAMESPACE, soon

STUDY = "bulk_write_read"
SERVERS = {"mongodb": {"FerretDB", "MongoDB"}, "elasticsearch": {"Elasticsearch"}, "delta-rs": {"Delta Lake"}}
# A pod that writes or reads these takes some ten seconds: time to be disturbed in.
GRID = {"rows": 200_000, "clients": ["reference"], "batch": ["10000", "50000"]}


class Drill:
    """A run of one store's cells that no other run has. `conf` is all that a run of another study is asked for."""

    def __init__(self, cluster, say, store, conf, study=STUDY):
        self.cluster, self.say, self.store, self.study = cluster, say, store, study
        grid = GRID if study == STUDY else {"clients": ["reference"]}
        self.conf = {**grid, "stores": [store], "seed": uuid.uuid4().int % 2**31, **conf}
        self.airflow = Airflow(*airflow_login())
        self.database = os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]
        self.run = ""

    def begin(self):
        """Start the run. The stack has stopped the store's server if the drills before this one did not need it for long."""
        command = [sys.executable, "-m", "local.stack", "up", "--study", self.study, "--stores", self.store]
        subprocess.run(command, check=True, capture_output=True, text=True)
        self.run = self.airflow.trigger(self.study, self.conf)
        return self

    def started(self, task, seconds=600):
        """Return the running pod of a task of the run. Wait up to `seconds`, including the start of provisioned servers."""
        selector = f"dag_id={self.study},task_id={task},run_id={make_safe_label_value(self.run)}"

        def running():
            found = self.cluster.list_namespaced_pod(NAMESPACE, label_selector=selector).items
            return [pod for pod in found if pod.status.phase == "Running"]

        return soon(running, seconds)[0]

    def working(self, operation):
        """A pod of this run that is busy with this operation."""
        pod = self.started(f"cell.{operation}")
        time.sleep(2)  # past its imports
        return pod

    def measured(self, operation, seconds=600):
        """Return a pod of this run whose timed window has begun. The pod must run within `seconds`."""
        pod = self.started(f"cell.{operation}", seconds)
        soon(lambda: "phase: operation" in self.log_of(pod), 240)
        return pod

    def log_of(self, pod):
        return self.cluster.read_namespaced_pod_log(pod.metadata.name, NAMESPACE)

    def wait_for_end_of(self, pod):
        """Airflow removes a pod as soon as it has its result."""
        name = f"metadata.name={pod.metadata.name}"
        while any(
            pod.status.phase == "Running"
            for pod in self.cluster.list_namespaced_pod(NAMESPACE, field_selector=name).items
        ):
            time.sleep(0.1)

    def end(self):
        """Follow the run as the command line does, and return its final state."""
        return self.airflow.wait(self.study, self.run, lambda _: None)

    @property
    def run_id(self):
        return run_id_of(self.study, self.run)

    def rows(self):
        return Queries(self.database).results(run=self.run_id)

    def must_end(self, what, *states, repair=None):
        """The run ends by itself in one of these states, its rows are sound, a second run completes the grid. Says so in a line.

        `repair`: what the second run has of other parameters.
        """
        state = self.end()
        assert state in states, self.rows()
        self.check_stack()
        self.check_rows()
        self.check_drops()
        reasons = sorted({row["error_kind"] for row in self.rows() if row["status"] != "verified"})
        assert bool(reasons) == (state == "failed")
        if reasons:
            self.check_completed(repair or {})
        outcome = (
            f"failed with the reason {', '.join(reasons)}, completed by a second run"
            if reasons
            else "verified"
        )
        self.say(
            f"{what}: the run went on to its end; one row for each of {len(self.rows())} operations, {outcome}"
        )

    def check_stack(self):
        """Check that all parts run again without help."""
        settings = Settings()
        soon(lambda: not any(health.complaint(name, settings) for name in health.checks(settings)))

    def check_rows(self):
        """Check that no operation is missing, duplicated, without its reason, or with another cell's data."""
        planned = {
            (turn.cell.key, turn.repeat, operation)
            for turn in Repository(self.database).recorded_turns(self.run_id)
            for operation in ("write", "read")
        }
        rows = self.rows()
        assert len(planned) == 2 * len(self.conf["batch"])
        assert sorted((row["cell_key"], row["repeat"], row["operation"]) for row in rows) == sorted(planned)
        for row in rows:
            if row["status"] != "verified":
                assert row["error_kind"] and row["error"], row
                continue
            cell = Cell.from_key(row["cell_key"])
            assert row["target"] == cell.target(self.run_id, row["repeat"])
            assert row["pod"].startswith(f"{cell.store}-{row['operation']}")
            assert row["server_name"] in SERVERS[cell.store]

    def check_drops(self):
        """Assert that the store holds no written data."""
        tasks = self.airflow.task_instances(STUDY, self.run)
        drops = [task["state"] for task in tasks if task["task_id"] == "cell.drop"]
        assert drops == ["success"] * len(self.conf["batch"])

    def check_completed(self, repair):
        """A second run of the same grid measures the cells that are not verified, or were disturbed, and no others; all with other
        parameters."""
        lacking = {row["cell_key"] for row in self.rows() if repair or not counts(row)}
        again = Drill(self.cluster, self.say, self.store, {**self.conf, "skip_done": True, **repair}).begin()
        assert again.end() == "success"
        assert {(row["cell_key"], row["status"]) for row in again.rows()} == {
            (key, "verified") for key in lacking
        }


def kill(name):
    """End a process of the stack as a crash does; the supervisor starts it again."""
    os.kill(pid(name), signal.SIGKILL)


def pid(name):
    (state,) = [state for state in supervisor.processes(Settings()) or [] if state["name"] == name]
    assert state["is_running"], state
    return state["pid"]


def away(name, seconds):
    """Stop a server of the stack for some time."""
    with stopped(name):
        time.sleep(seconds)


@contextmanager
def stopped(name):
    """Stop a server of the stack during the block."""
    supervisor.stop_process(Settings(), name)
    try:
        yield
    finally:
        supervisor.start_process(Settings(), name)


@contextmanager
def frozen(name):
    """Freeze a server of the stack during the block: it accepts connections and answers nothing."""
    server = pid(name)
    os.kill(server, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server, signal.SIGCONT)
