"""The first step of a run: what it does in which order, and a costly plan that waits for approval."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from airflow.providers.standard.operators import hitl
from airflow.sdk.exceptions import AirflowFailException, TaskAwaitingInput

from storebench.airflow.dags import plan_step
from storebench.airflow.dags.plan_step import APPROVAL, PlanOperator, approval_min
from storebench.errors import SpecError
from tests.unit.example import STUDY

VARIABLE = f"AIRFLOW_VAR_{APPROVAL.upper()}"
CONTEXT = {
    "ti": None,
    "task_instance": SimpleNamespace(id="ti"),
    "dag": SimpleNamespace(dag_id="d"),
    "run_id": "r",
    "params": {},
    "dag_run": None,
}
LINES = ["Cells: 3. Operations: 6. They take about 10 min", "3 pods at a time"]


@pytest.fixture
def calls(monkeypatch):
    """Return what the step calls, in order. The plan expects ten minutes."""
    found = []

    def plan_of(study, params, dag_run, make, ask):
        if ask:
            ask(600.0, LINES)
        found.append("plan")
        return ["turn"]

    repository = SimpleNamespace(check_schema=lambda: found.append("check schema"))
    monkeypatch.setattr(plan_step.connections, "repository", lambda *_: repository)
    monkeypatch.setattr(plan_step, "close_stopped", lambda *_: found.append("close stopped"))
    monkeypatch.setattr(plan_step, "plan_of", plan_of)
    monkeypatch.setattr(plan_step, "refuse", lambda *values: found.append(values[-1]))
    monkeypatch.setattr(hitl, "upsert_hitl_detail", lambda **values: found.append(values))
    return found


@pytest.fixture
def step():
    return PlanOperator(task_id="plan", study=STUDY, made_for_plan=None)


@pytest.mark.parametrize("limit", [None, "10", "1e9"])
def test_a_plan_within_the_limit_refuses_another_schema_closes_what_was_stopped_then_plans(
    step, calls, monkeypatch, limit
):
    if limit:
        monkeypatch.setenv(VARIABLE, limit)
    assert step.execute(CONTEXT) == ["turn"]
    assert calls == ["check schema", "close stopped", "plan"]


@pytest.mark.parametrize("limit", ["0", "9.9"])
def test_a_costly_plan_is_shown_and_parked_without_being_recorded(step, calls, monkeypatch, limit):
    monkeypatch.setenv(VARIABLE, limit)
    with pytest.raises(TaskAwaitingInput) as parked:
        step.execute(CONTEXT)
    assert parked.value.method_name == "execute_complete" and parked.value.timeout is None
    assert calls[:2] == ["check schema", "close stopped"]
    (shown,) = calls[2:]
    assert (shown["ti_id"], shown["options"]) == ("ti", ["Approve", "Reject"])
    assert shown["subject"] == f"Measure with {STUDY.name}?"
    assert shown["body"] == "- Cells: 3. Operations: 6. They take about 10 min\n- 3 pods at a time"


def answer(option):
    """Return the event with which Airflow goes on with a parked task."""
    user = {"id": "1", "name": "ann"}
    return {
        "chosen_options": [option],
        "params_input": {},
        "responded_at": datetime.now(UTC),
        "responded_by_user": user,
    }


def test_an_approved_run_is_planned_again_and_not_asked_again(step, calls, monkeypatch):
    monkeypatch.setenv(VARIABLE, "0")
    assert step.execute_complete(CONTEXT, answer("Approve")) == ["turn"]
    assert calls == ["check schema", "close stopped", "plan"]


def test_a_rejected_run_is_recorded_as_refused_and_fails_with_the_name_of_the_user(step, calls):
    reason = "ann has rejected the plan of this run. Nothing was measured"
    with pytest.raises(AirflowFailException, match=reason):
        step.execute_complete(CONTEXT, answer("Reject"))
    assert calls == [reason]


@pytest.mark.parametrize("text", ["-1", "ten", "nan"])
def test_a_limit_that_is_no_number_of_minutes_is_refused(text):
    with pytest.raises(SpecError, match=f"{APPROVAL} is not a number of minutes: '{text}'"):
        approval_min(text)
    assert approval_min(None) is approval_min("") is None and approval_min("1.5") == 1.5
