"""Costly runs that wait for approval, through the real Airflow."""

import os
import time

import pytest

from storebench.airflow.dags.plan_step import APPROVAL
from storebench.results.database.queries import Queries
from storebench.results.database.repository import run_id_of
from tests.e2e.harness import ROWS, SEED, soon

DAG = "bulk_write_read"


@pytest.fixture
def all_costly(airflow):
    """Let every run wait for approval."""
    airflow.call("POST", "/api/v2/variables", json={"key": APPROVAL, "value": "0"})
    yield
    airflow.call("DELETE", f"/api/v2/variables/{APPROVAL}")


def test_a_rejected_run_measures_nothing_and_an_approved_run_goes_on(airflow, all_costly):
    results = Queries(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"])
    conf = {"rows": ROWS, "seed": SEED, "stores": ["null"], "clients": ["reference"], "batch": ["500"]}
    for option, state in (("Reject", "failed"), ("Approve", "success")):
        run = airflow.trigger(DAG, conf)
        plan = f"/api/v2/dags/{DAG}/dagRuns/{run}/taskInstances/plan"
        soon(lambda plan=plan: airflow.call("GET", plan)["state"] == "awaiting_input")
        assert not results.has_run(run_id_of(DAG, run)), "nothing is recorded before the answer"
        shown = airflow.call("GET", f"{plan}/-1/hitlDetails")
        assert "Cells: 1. Operations: 2. They take about" in shown["body"]
        time.sleep(
            5
        )  # a person takes longer; Airflow fails a task that is answered before the scheduler has seen its process end
        airflow.call("PATCH", f"{plan}/-1/hitlDetails", json={"chosen_options": [option], "params_input": {}})
        assert airflow.wait(DAG, run, print) == state
        recorded = results.run_counted(run_id_of(DAG, run))
        expected = ("refused", 0) if option == "Reject" else ("success", 2)
        assert (recorded["state"], recorded["verified"]) == expected
