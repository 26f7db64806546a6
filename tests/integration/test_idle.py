"""The decision whether a server is idle, from the real databases."""

import os
import uuid

import psycopg
from psycopg.types.json import Jsonb

from local.stack import idle
from tests.bulk import BULK, cell_at

SERVER = "idle"  # no store has it but the one that this test gives it to
STORE = "delta-standalone"  # no other test's runs have it


def test_a_server_is_needed_until_a_while_after_the_last_run_of_its_stores(database, run):
    seed = uuid.uuid4().int % 2**40

    def needed():
        return idle._true(database, idle.NEEDED, 30, SERVER)

    def measured(store):
        name = run([cell_at(store, seed, batch="all")])
        with psycopg.connect(database) as connection:
            connection.execute(
                "UPDATE storebench.study SET details = jsonb_set(details, '{stores}', %s) WHERE name = %s",
                (Jsonb([{"name": STORE, "server": SERVER}, {"name": "null", "server": None}]), BULK),
            )
        return name

    for store in ("null", f"{STORE}@elsewhere"):
        measured(store)
        assert not needed(), store
    name = measured(STORE)
    assert needed()
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.run SET finished_at = now() - interval '31 minutes' WHERE airflow_run_id = %s",
            [name],
        )
    assert not needed()


def test_airflow_s_database_says_whether_there_is_a_run():
    airflow = os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].replace("+psycopg2", "")
    assert idle._true(airflow, idle.OPEN_RUNS) in (True, False)
