"""The metrics in OpenMetrics, from the real database, read by the parser of prometheus_client."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest
from fastapi import HTTPException
from fastapi.testclient import TestClient
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from bench.scratch import scratch
from storebench.airflow.compat.api_server import get_user
from storebench.attempt.result import AttemptResult
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import Repository, run_id_of
from storebench.results.leftovers.stopped import RunStates
from storebench.study.order import turns
from storebench.web import access
from storebench.web.access import METRICS_TOKEN, airflow_states, queued
from storebench.web.api import app
from storebench.web.metrics import GAUGES
from tests.bulk import RANKED_BY, bulk_study
from tests.integration.recorded import STUDY

TOKEN = "a-token-of-a-test"
STATES = RunStates(lambda *_: "running", lambda *_: None, lambda: None)


@pytest.fixture
def own(database):
    """Yield an empty database."""
    with scratch(database) as uri:
        migrate(uri)
        yield uri


@pytest.fixture
def repository(own):
    return Repository(own)


@pytest.fixture
def scrape(own, monkeypatch):
    """Return the metrics by name: values by labels. Airflow knows nobody, and one run is in its queue."""

    async def nobody(request, bearer):
        raise HTTPException(401)

    monkeypatch.setattr(access, "user_of", nobody)
    monkeypatch.setattr(access.connections, "reader_dsn", lambda: own)
    monkeypatch.setenv(METRICS_TOKEN, TOKEN)

    def call(states=STATES):
        app.dependency_overrides = {
            airflow_states: lambda: states,
            queued: lambda: lambda dag_ids: {STUDY: 1},
        }
        answer = TestClient(app).get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        families = {family.name: family for family in text_string_to_metric_families(answer.text)}
        assert [(name, family.unit) for name, family in families.items()] == [
            (gauge.name, gauge.unit) for gauge in GAUGES
        ]
        return {
            gauge.name.removeprefix("storebench_"): {
                tuple(sample.labels[label] for label in gauge.labels): sample.value
                for sample in families[gauge.name].samples
            }
            for gauge in GAUGES
        }

    yield call
    app.dependency_overrides = {}


def test_the_metrics_count_what_is_recorded(scrape, own, repository, run, cells):
    name = run(cells, 2, name="manual__1")
    bad = AttemptResult(status="failed", error_kind="store_failed", error="no")
    operation, metric = next(iter(RANKED_BY.items()))
    repository.add_attempt(
        AttemptKey(run_id_of(STUDY, name), cells[0].key, 1, operation, 2),
        bad,
        PodRecord(),
        phases={},
        metric=metric,
        target=None,
        dataset=None,
    )
    with psycopg.connect(own) as connection:
        connection.execute("UPDATE storebench.attempt SET recorded_at = now() - interval '1 hour'")
        connection.execute(
            "UPDATE storebench.run SET finished_at = started_at + interval '50 seconds', rested_s = 20"
        )
    repository.start_run(
        study=bulk_study(),
        dag_id=STUDY,
        airflow_run_id="manual__2",
        params={},
        turns=turns(dict.fromkeys(cells, 1), 1),
        order_seed=1,
        skipped={},
    )
    found = scrape()
    planned = sum(len(bulk_study().operations_in(cell)) for cell in cells)
    assert found["runs"] == {
        (STUDY, "running"): 1,
        (STUDY, "success"): 1,
        (STUDY, "failed"): 0,
        (STUDY, "refused"): 0,
    }
    assert found["attempts"][STUDY, "mongodb", operation, "verified"] == 4
    assert found["attempts"][STUDY, "mongodb", operation, "failed"] == 1
    assert found["failed_attempts"] == {(STUDY, "mongodb", operation, "store_failed"): 1}
    assert found["last_run_success"] == {(STUDY,): 1}
    assert found["last_run_duration_seconds"] == {(STUDY,): pytest.approx(30)}
    assert found["last_verified_attempt_age_seconds"] == {(STUDY,): pytest.approx(3600, abs=60)}
    assert (found["queued_runs"], found["pending_operations"]) == ({(STUDY,): 1}, {(STUDY,): planned})

    stopped = replace(STATES, state_of=lambda *_: "failed", ended_at=lambda *_: datetime.now(UTC))
    found = scrape(stopped)
    assert (found["runs"][STUDY, "running"], found["runs"][STUDY, "failed"]) == (0, 1)
    assert (found["last_run_success"], found["pending_operations"]) == ({(STUDY,): 0}, {(STUDY,): 0})


def test_an_empty_database_has_metrics_without_samples(scrape):
    assert set(map(len, scrape().values())) == {0}


def test_only_the_token_reads_without_a_login_and_only_the_metrics(scrape, monkeypatch):
    def nobody():
        raise HTTPException(401)

    client = TestClient(app)
    wrong = {"Authorization": f"Bearer {uuid.uuid4().hex}"}
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert scrape() is not None
    app.dependency_overrides[get_user] = nobody
    assert [client.get("/metrics", headers=headers).status_code for headers in ({}, wrong)] == [401, 401]
    assert client.get("/api/runs", headers=right).status_code == 401
    monkeypatch.delenv(METRICS_TOKEN)
    monkeypatch.setattr(access, "has_connection", lambda name: False)
    for headers in ({}, right, {"Authorization": "Bearer "}):
        assert client.get("/metrics", headers=headers).status_code == 401


def test_a_user_reads_the_metrics_of_the_dags_that_the_user_may_read(scrape, run, cells, monkeypatch):
    async def somebody(request, bearer):
        return "somebody"

    run(cells, 1)
    monkeypatch.setattr(access, "user_of", somebody)
    scrape()
    for may, status in ((True, 200), (False, 403)):
        monkeypatch.setattr(access, "may_read", lambda dag_id, user, may=may: may and user == "somebody")
        answer = TestClient(app).get("/metrics")
        assert (answer.status_code, f'study="{STUDY}"' in answer.text) == (status, may)


def test_the_token_may_be_the_password_of_a_connection(scrape, monkeypatch):
    monkeypatch.delenv(METRICS_TOKEN)
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_METRICS", f"generic://:{TOKEN}@")
    assert scrape() is not None
