"""What decides whether a server idles, asked of the real databases."""

import os
from dataclasses import replace

import psycopg

from local.stack import idle

STORE = "mongodb@idle"  # no other test's runs have it


def test_a_store_is_needed_until_a_while_after_its_last_run(database, run, cells):
    def needed():
        return idle._true(database, idle.NEEDED, 30, [STORE])

    assert not needed()
    name = run([replace(cell, store=STORE) for cell in cells])
    assert needed()
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.run SET finished_at = now() - interval '31 minutes' WHERE airflow_run_id = %s",
            [name],
        )
    assert not needed()


def test_airflow_s_database_says_whether_there_is_a_run():
    airflow = os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].replace("+psycopg2", "")
    assert idle._true(airflow, idle.GOING) in (True, False)
