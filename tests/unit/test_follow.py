import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from storebench.follow import follow
from storebench.grid import Cell
from storebench.order import Turn
from storebench.trigger import Look

CELL = Cell("s", "mongodb", "reference", (("batch", "10"),), 1000, 42)
ROW = {
    "attempt_id": "a",
    "cell_key": CELL.key,
    "repeat": 1,
    "warm_up": False,
    "arm": None,
    "operation": "write",
    "rows": 1000,
    "write_only_s": 0.5,
    "status": "verified",
    "error_kind": None,
    "disturbed": None,
    "client_bound": False,
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
    """What is recorded of it: its plan at once, its row when it has ended."""

    def __init__(self):
        self.rows = []

    def has_run(self, run_id):
        return True

    def run_counted(self, run_id):
        return {"planned": 2, "verified": 1, "started_at": datetime.now(UTC), "expected_s": 95.0}

    def recorded_turns(self, run_id):
        return [Turn(CELL, 1)]

    def results(self, run, limit):
        self.rows, found = [ROW], self.rows
        return found

    def skipped(self, run_id):
        return []


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_has_one_line_that_changes_and_a_file_plain_lines(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal, color_system=None, width=80)
    assert follow(console, Airflow(), Results(), "s", "r") == "failed"
    text = console.file.getvalue()
    assert "2 operations, about 1 min 35 s:  store mongodb  client reference  batch 10" in text
    assert "1 of 2  write          0.50      2,000  verified\n" in text
    assert text.count("aggregate: failed: 1 operations are not verified\n") == 1
    assert text.endswith("run failed after 0 s: 1 of 2 operations are verified\n")
    going = "0 of 2 · 0 s of about 1 min 35 s · cell.write mongodb reference batch=10"
    assert (going in text) == terminal == ("\x1b" in text)
