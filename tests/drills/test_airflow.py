"""What happens when a part of Airflow, or its database, goes away."""

import re

import psutil

from tests.drills.drill import away, kill, pid

OF_A_TASK = re.compile(r"airflow worker -- .*[0-9a-f-]{36}")


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


def test_process_of_a_task_killed(drill):
    run = drill()
    run.working("write")
    processes = psutil.Process(pid("airflow-scheduler")).children(recursive=True)
    of_a_task = [process for process in processes if OF_A_TASK.search(" ".join(process.cmdline()))]
    assert len(of_a_task) == 2, "the task's, and the one that watches it"
    for process in of_a_task:
        process.kill()
    run.must_end("kill -9 of a task's processes while its pod runs", "failed")


def test_database_away_while_a_result_is_recorded(drill):
    run = drill()
    run.wait_for_end_of(run.working("write"))
    away("postgres-results", 60)
    run.must_end("PostgreSQL away for 60 s when a result is recorded", "success")
