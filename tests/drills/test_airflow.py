"""Outages of Airflow's parts and of the results database."""

import random
import time

import pytest

from tests.drills.drill import away, kill

OUTAGES = 10
OUTAGE_S = 60


def test_scheduler_killed(drill):
    run = drill()
    run.working("write")
    kill("airflow-scheduler")
    run.must_end("kill -9 of the scheduler", "success", "failed")


def test_api_server_killed(drill):
    run = drill()
    run.working("write")
    kill("airflow-api-server")
    run.must_end("kill -9 of Airflow's API server", "success", "failed")


def test_database_away_while_a_result_is_recorded(drill):
    run = drill()
    run.wait_for_end_of(run.working("write"))
    away("postgres-results", 60)
    run.must_end("PostgreSQL away for 60 s when a result is recorded", "success")


@pytest.mark.timeout(1800)
def test_database_away_at_random_moments(drill, say):
    """24 attempts and ten outages: each attempt has one row."""
    run = drill(rows=20_000, batch=[str(rows) for rows in range(1_000, 13_000, 1_000)])
    seed = random.randrange(2**32)
    pause = random.Random(seed)
    pauses_s = [pause.uniform(0, 40) for _ in range(OUTAGES)]
    for pause_s in pauses_s:
        time.sleep(pause_s)
        assert run.airflow.run_state(run.study, run.run) in {"queued", "running"}
        away("postgres-results", OUTAGE_S)
    run.must_end(f"PostgreSQL away for {OUTAGE_S} s at {OUTAGES} random moments (seed {seed})", "success")
    assert len(run.rows()) == 24
