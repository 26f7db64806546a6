"""The rows that a plan writes into the real database."""

import uuid
from types import SimpleNamespace

import pytest

from storebench.airflow.dags.plan import plan_of
from storebench.errors import SpecError
from storebench.planning.params import run_values
from storebench.study.studies import find


def test_a_run_that_its_plan_refuses_is_recorded_with_the_reason(database, queries, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    monkeypatch.setenv("AIRFLOW_VAR_STOREBENCH_AIRFLOW_ID", "this")
    study, asked = find("bulk_write_read"), {"stores": ["mongo"]}
    run = SimpleNamespace(
        dag_id=study.name, run_id=uuid.uuid4().hex, run_type="manual", conf=asked, partition_key=None
    )
    with pytest.raises(SpecError, match="Did you mean mongodb") as refused:
        plan_of(study, {**run_values(study, {}), **asked}, run)
    (row,) = [one for one in queries.runs(1000) if one["airflow_run_id"] == run.run_id]
    assert (row["state"], row["reason"], row["airflow_id"]) == ("refused", str(refused.value), "this")
    assert row["params"]["stores"] == ["mongo"]
