"""The row that the operator writes for a pod that has ended."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from storebench.airflow.operators import attempts
from storebench.airflow.operators.drops import DropOperator
from storebench.airflow.outcome.result_check import TEXT_CHARACTERS
from storebench.attempt.overflow import fitting
from storebench.attempt.result import AttemptResult
from storebench.errors import StoreUnreachable
from tests.unit.airflow.test_observe import ended, pod
from tests.unit.attempt.test_overflow import LONG, SPEC, FakeS3
from tests.unit.example import STUDY

PARAMETERS = {"pod_cpu": "500m", "cpu_limit": False, "pod_memory": "8Gi"}


@pytest.fixture
def bucket(monkeypatch):
    fake = FakeS3()
    monkeypatch.setenv("STOREBENCH_CONN_S3", "{}")
    monkeypatch.setattr("storebench.s3.client_for", lambda connection: fake)
    monkeypatch.setattr(attempts.connections, "s3", lambda: fake)
    return fake


@pytest.fixture
def rows(monkeypatch):
    """Collect the written attempts as (result, parameters)."""
    written = []

    def add_attempt(key, result, record, *, parameters, **others):
        written.append((result, parameters))

    monkeypatch.setattr(
        attempts.connections, "repository", lambda patience_s: SimpleNamespace(add_attempt=add_attempt)
    )
    return written  # fmt: skip


@pytest.fixture
def operator(monkeypatch):
    """Return an operator whose pod has left this message."""
    monkeypatch.setattr(attempts.AttemptOperator, "kubernetes_version", lambda self: "v1")

    def make(message):
        made = attempts.AttemptOperator(task_id="write", study=STUDY, operation="write", turn="t")
        made.observed = pod(ended(message=message))
        made.parameters = PARAMETERS
        return made

    return make


KEY = SimpleNamespace(id="1", operation="write")


def test_the_row_of_a_result_that_did_not_fit_is_as_if_it_had(operator, bucket, rows):
    operator(fitting(LONG, SPEC).to_json()).record(KEY, SPEC, None)
    ((result, parameters),) = rows
    assert (result.status, result.usage) == ("verified", LONG.usage)
    assert result.environment.items() >= LONG.environment.items()
    assert parameters == PARAMETERS
    assert bucket.objects == {}


def test_a_result_stays_in_s3_until_its_row_is_recorded(operator, bucket, monkeypatch):
    """The next try reads it again if the process dies, or the results database is away."""

    def away(*_, **__):
        raise StoreUnreachable("The results database cannot be used")

    monkeypatch.setattr(
        attempts.connections, "repository", lambda patience_s: SimpleNamespace(add_attempt=away)
    )
    with pytest.raises(StoreUnreachable):
        operator(fitting(LONG, SPEC).to_json()).record(KEY, SPEC, None)
    assert len(bucket.objects) == 1


def test_what_another_store_left_of_its_step_is_looked_at_too(operator, bucket, rows):
    twice = [{"role": "executor", "name": "1"}] * 2
    failed = AttemptResult(error_kind="refused", error="e" * 9999, usage=twice)
    other = replace(SPEC, cell_key=SPEC.cell_key.replace("delta-spark", "delta-kernel"))
    operator(fitting(failed, SPEC).to_json()).record(KEY, other, None)
    ((result, _),) = rows
    assert result.usage == [] and result.error.startswith("delta-spark could not do its write: e")
    assert len(result.error) == TEXT_CHARACTERS


def test_nothing_of_a_drop_is_left_in_s3(bucket, rows):
    drop = DropOperator(task_id="drop", study=STUDY, turn="t")
    drop.observed = pod(ended(message=fitting(LONG, SPEC).to_json()))
    drop.end_pod(SPEC, None)
    assert rows == [] and bucket.objects == {}


def test_the_node_is_no_part_of_the_environment(operator, bucket, rows):
    operator(fitting(LONG, SPEC).to_json()).record(KEY, SPEC, None)
    assert "n1" not in rows[0][0].environment.values()


def test_a_verified_result_that_says_nothing_of_its_environment_has_what_kubernetes_knows(
    operator, bucket, rows
):
    message = '{"version": 1, "status": "verified", "verification": "2 rows", "metrics": {"only_s": 1, "rows_per_s": 2, "source_s": 0}}'
    operator(message).record(KEY, SPEC, None)
    ((result, _),) = rows
    assert result.status == "verified", result.error
    assert result.environment["kubernetes"] == "v1" and result.environment["image"]
