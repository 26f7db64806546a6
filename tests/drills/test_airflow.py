"""What happens when a part of Airflow, or its database, goes away."""

from tests.drills.drill import away, kill


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
