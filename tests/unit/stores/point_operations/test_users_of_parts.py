"""Operations that two parts do together: two processes, each with its own load generators, which talk to each other as pods do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from storebench import stores
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.attempt.termination import VARIABLE as MESSAGE
from storebench.study.studies import find
from tests.ports import free_port
from tests.unit.stores.point_operations.conftest import LOAD, SEED, TOY

PARTS, ROWS, MOST_S = 2, 300, 120
PROGRAM = """
import os
from storebench.attempt import run
from storebench.connection import Connection
connection = Connection("toy", host=os.environ["TOY"])
Connection.from_environment = classmethod(lambda cls, name: connection)
run.client_for = lambda connection: None
run.overflow.fitting = lambda result, spec: result  # no S3 is there
from storebench import stores
stores.__path__.append(os.environ["TOYS"])
raise SystemExit(run.main())
"""


@pytest.fixture
def divided(tmp_path):
    """Run an operation of the toy in two parts; returns the results, the leader's first."""

    def divided(operation, load="closed", **options):
        study = find("point_operations")
        listed = study.operation(operation).metrics  # the rules that the operator gives to the pods
        merges = {
            metric.name: metric.merge for metric in study.metrics if metric.merge and metric.name in listed
        }
        spec = AttemptSpec(
            *(operation, "", "toy_points", "toy", "direct", {"load": load, "pods": str(PARTS)}, ROWS, SEED),
            *("t", "b", None, "results/"),
            options={**LOAD, **options},
            merges=merges,
        )
        common = {
            **os.environ,
            "PYTHONPATH": f"{Path(stores.__file__).parents[2]}:{TOY}",
            "TOY": str(tmp_path / "toy.db"),
            "TOYS": str(TOY / "storebench" / "stores"),
            VARIABLE: spec.to_json(),
            "STOREBENCH_PARTS": str(PARTS),
            "STOREBENCH_PARTS_KEY": "secret",
            "STOREBENCH_PARTS_WAIT_S": "60",
            "STOREBENCH_PARTS_PORT": str(free_port()),
        }
        follows = {"STOREBENCH_LEADER": "127.0.0.1", "JOB_COMPLETION_INDEX": "0"}
        messages = [tmp_path / f"message-{number}" for number in range(PARTS)]
        running = []
        try:
            for number, message in enumerate(messages):
                told = {**common, MESSAGE: str(message), "STOREBENCH_POD": f"pod-{number}"}
                told |= follows if number else {}
                running.append(subprocess.Popen([sys.executable, "-c", PROGRAM], env=told))
            for process in running:
                process.wait(MOST_S)
        finally:
            for process in running:
                process.kill()
                process.wait()
        return [AttemptResult.from_json(message.read_text()) for message in messages]

    return divided


def count(result, name="latency_s"):
    return sum(result.histograms[name]["counts"])


def test_a_table_is_filled_and_written_by_both_parts_and_compared_as_a_whole(divided):
    leader, other = divided("fill")
    assert leader.error is None and "300 acknowledged entities are there once" in leader.verification
    assert "left with the leader" in other.verification
    assert leader.metrics["entities_per_s"] == pytest.approx(ROWS / leader.metrics["fill_s"])
    leader, other = divided("write", read_share="0.5")
    assert leader.error is None and leader.status == other.status == "verified"
    kept = int(leader.verification.split()[0].replace(",", ""))
    assert kept > ROWS and "reads, each of which" in leader.verification
    assert count(leader) == count(leader, "read_latency_s") + count(leader, "write_latency_s")
    assert leader.metrics["operations_per_s"] == count(leader) / 2 > other.metrics["operations_per_s"] > 0
    assert leader.series["each_second_users"]["values"][-1] == 4
    clients = [row for row in leader.usage if row["role"] == "client"]
    assert [row["name"] for row in clients] == ["pod-1"] and clients[0]["client_cpu_share"] > 0
    assert 0 <= leader.start_skew_s < 1


def test_an_open_load_is_one_schedule_of_both_parts(divided):
    divided("fill")
    leader, other = divided("read", "open", rate="100")
    assert leader.error is None and leader.metrics["operations_per_s"] == pytest.approx(100, abs=2)
    assert other.metrics["operations_per_s"] == pytest.approx(50, abs=2)
    assert leader.metrics["not_begun_share"] == pytest.approx(0, abs=0.02)


def test_a_write_that_is_lost_is_found_by_the_leader(divided):
    divided("fill")
    leader, _ = divided("write", trouble="lost", duration_s="1.0")
    assert leader.status == "failed" and "acknowledged entities are not in the table" in leader.error


def test_both_parts_climb_the_same_ramp(divided):
    """Four users and 0.05 s for a read are 80 reads a second."""
    divided("fill")
    leader, other = divided("read", "ramp", trouble="slow")
    assert leader.error is None and leader.metrics["broken_operations_per_s"] == 112.5
    assert leader.metrics["operations_per_s"] == pytest.approx(75, abs=1)
    assert other.metrics["operations_per_s"] == pytest.approx(75 / 2, abs=1)
    assert count(leader) == 150  # of one step
    assert leader.series["each_step_operations_per_s"]["values"] == [50, 75, 112.5]


def test_both_parts_search_the_same_capacity(divided):
    """Sixteen users and 0.05 s for a read are 320 reads a second at most."""
    divided("fill")
    asked = {"users": "16", "spawn_rate": "160", "slo_ms": "500", "first_rate": "200.0"}
    leader, other = divided("read", "capacity", trouble="slow", capacity_tolerance="0.25", **asked)
    assert leader.error is None
    capacity = leader.metrics["capacity_per_s"]
    assert capacity < 320 * 1.25
    assert leader.metrics["operations_per_s"] == pytest.approx(capacity, rel=0.02)
    assert other.metrics["operations_per_s"] == pytest.approx(capacity / 2, rel=0.02)
    assert leader.series["each_step_operations_per_s"]["values"][-1] == pytest.approx(capacity)
