import io
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from storebench.cli.airflow_api import Look
from storebench.cli.follow import follow
from storebench.study.order import Turn
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY, cell

CELL = cell("mongodb")
ROW = {
    "attempt_id": "a",
    "cell_key": CELL.key,
    "repeat": 1,
    "warm_up": False,
    "arm": None,
    "operation": "write",
    "value": 0.5,
    "unit": "s",
    "status": "verified",
    "error_kind": None,
    "disturbed": None,
    "not_judged": None,
    "perhaps_disturbed": None,
    "client_bound": False,
    "service_bound": None,
}
PLAN = {
    "id": "1",
    "task_id": "plan",
    "task_display_name": "plan",
    "map_index": -1,
    "rendered_map_index": None,
    "state": "success",
    "end_date": "2026",
}
WRITE = {**PLAN, "id": "2", "task_id": "cell.write", "task_display_name": "cell.write", "map_index": 0}
WRITE |= {"rendered_map_index": "mongodb reference batch=10", "state": "running", "end_date": None}
AGGREGATE = {**PLAN, "id": "3", "task_id": "aggregate", "task_display_name": "aggregate", "state": "failed"}


class Airflow:
    """One whose run is planned, writes, and fails."""

    def watch(self, dag_id, run_id):
        written = {**WRITE, "state": "success", "end_date": "2026"}
        yield Look([PLAN], [PLAN, WRITE], "running", False)
        yield Look([written, AGGREGATE, AGGREGATE], [PLAN, written, AGGREGATE], "failed", True)

    def reason(self, dag_id, run_id, task):
        return "1 operations are not verified:\nread mongodb"


class Results:
    """The run's records: the plan at once, the row at the end."""

    def __init__(self, **range_):
        self.rows, self.range = [], range_

    def has_run(self, run_id):
        return True

    def run_counted(self, run_id):
        return {
            "study": STUDY.name,
            "planned": 2,
            "verified": 1,
            "started_at": datetime.now(UTC),
            "expected_s": 95.0,
        } | self.range

    def study(self, name):
        return {STUDY.name: StudyRecord.of(STUDY)}[name]

    def recorded_turns(self, run_id):
        return [Turn(CELL, 1)]

    def results(self, run, limit):
        self.rows, found = [ROW], self.rows
        return found

    def skipped(self, run_id):
        return []


def test_a_run_that_was_stopped_took_until_its_end_in_airflow(monkeypatch):
    ended_at = datetime.now(UTC) - timedelta(minutes=7)

    class Stopped(Airflow):
        def watch(self, dag_id, run_id):
            yield Look([PLAN], [PLAN], "failed", True, ended_at)

    recorded = Results()
    begun = {
        **recorded.run_counted("s/r"),
        "started_at": ended_at - timedelta(seconds=30),
        "finished_at": None,
    }
    monkeypatch.setattr(recorded, "run_counted", lambda run_id: begun)
    console = Console(file=io.StringIO(), width=80)
    follow(console, Stopped(), recorded, "s", "r")
    assert "run failed after 30 s: 1 of 2 operations are verified" in console.file.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_has_one_line_that_changes_and_a_file_plain_lines(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal, color_system=None, width=80)
    assert follow(console, Airflow(), Results(), "s", "r") == "failed"
    text = console.file.getvalue()
    assert "2 operations, about 2 min:  store mongodb  client reference  batch 10" in text
    assert "1 of 2  write              500 ms  verified\n" in text
    assert text.count("aggregate: failed: 1 operations are not verified\n") == 1
    assert text.endswith("run failed after 0 s: 1 of 2 operations are verified\n")
    going = "0 of 2 · 0 s of about 2 min · cell.write mongodb reference batch=10"
    assert (going in text) == terminal == ("\x1b" in text)


def test_what_is_excluded_is_told_before_anything_is_measured(monkeypatch):
    recorded = Results()
    reasons = ["a cannot hold it", "a cannot hold it", *(f"reason {n}" for n in range(6))]
    monkeypatch.setattr(recorded, "skipped", lambda run_id: reasons)
    console = Console(file=io.StringIO(), width=80)
    follow(console, Airflow(), recorded, "s", "r")
    before, _, _ = console.file.getvalue().partition("1 of 2  write")
    assert "excluded: a cannot hold it (2 times)\nexcluded: reason 0\n" in before
    assert "excluded for 2 more reasons: the log of the task plan lists all\n" in before


@pytest.mark.parametrize(
    ("paused", "before", "reason"),
    [
        (True, ["a"], "queued: the DAG d is paused in Airflow. Unpause the DAG there, and the run begins"),
        (False, [], "queued: the run begins when the runs before it have ended"),
        (False, ["a"], "queued: the run begins when the run a has ended"),
        (False, ["a", "b"], "queued: the run begins when the run a and the run b have ended"),
        (
            False,
            list("abcde"),
            "queued: the run begins when the run a and the run b and the run c and 2 more have ended",
        ),
    ],
)
def test_a_run_that_stays_queued_says_why(paused, before, reason):
    class Queued(Airflow):
        def watch(self, dag_id, run_id):
            for _ in range(3):
                yield Look([], [], "queued", False)
            yield Look([], [], "failed", True)

        def is_paused(self, dag_id):
            return paused

        def runs_before(self, dag_id, run_id):
            return before

    console = Console(file=io.StringIO(), width=200)
    follow(console, Queued(), Results(), "d", "manual__1")
    assert console.file.getvalue().splitlines()[0] == reason


def test_a_run_that_waits_for_approval_says_where_once():
    class Asking(Airflow):
        def watch(self, dag_id, run_id):
            for _ in range(3):
                yield Look([], [{**PLAN, "state": "awaiting_input", "end_date": None}], "running", False)
            yield Look([], [PLAN], "failed", True)

    console = Console(file=io.StringIO(), width=200)
    follow(console, Asking(), Results(), "d", "manual__1")
    lines = [line for line in console.file.getvalue().splitlines() if "approval" in line]
    assert lines == ["the run waits for approval: in Airflow, open the run and its Required Actions"]


def test_a_run_whose_pods_wait_for_those_of_another_run_says_which_once():
    waits = {**WRITE, "state": "scheduled", "pool": "benchmark"}

    class Waiting(Airflow):
        def watch(self, dag_id, run_id):
            for _ in range(6):
                yield Look([], [PLAN, waits], "running", False)
            yield Look([WRITE], [PLAN, WRITE], "running", False)
            yield Look([], [PLAN, waits], "running", False)
            yield Look([], [PLAN, waits], "failed", True)

        def runs_in_pool(self, pool):
            return [("d", "manual__1"), ("other", "manual__0")] if pool == "benchmark" else []

    console = Console(file=io.StringIO(), width=200)
    follow(console, Waiting(), Results(), "d", "manual__1")
    lines = [line for line in console.file.getvalue().splitlines() if line.startswith("waiting")]
    assert lines == ["waiting: the next pod starts when a pod of the run manual__0 of other has ended"]
