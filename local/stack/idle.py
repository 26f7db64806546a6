"""Finds servers that no run has needed for a while, and has them stopped: `python -m local.stack.idle`, a process of the stack.

It is there beside each measurement. So it imports little, and asks two databases one question a minute.
"""

import os
import subprocess
import sys
import time

import psycopg

from local.stack import parts
from local.stack.settings import Settings

LOOK_S = 60
GOING = "SELECT EXISTS (SELECT FROM dag_run WHERE state IN ('queued', 'running'))"
NEEDED = """
SELECT EXISTS (
    SELECT FROM storebench.run AS r
    JOIN storebench.run_cell AS rc ON rc.run_id = r.id
    JOIN storebench.cell AS c ON c.key = rc.cell_key
    WHERE coalesce(r.finished_at, r.started_at) > now() - make_interval(mins => %s) AND c.store = ANY(%s)
)
"""


def servers(settings: Settings) -> list[str]:
    """Those that neither `make` nor a run has asked for in settings.idle_minutes; none while a run is queued or running.

    Raises psycopg.Error where a database does not answer.
    """
    oldest = time.time() - settings.idle_minutes * 60
    found = [name for name in sorted(parts.started(settings)) if parts.asked_at(settings, name) < oldest]
    if not found or _true(os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].replace("+psycopg2", ""), GOING):
        return []
    results = os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]
    return [
        name for name in found if not _true(results, NEEDED, settings.idle_minutes, parts.stores_of(name))
    ]


def _true(uri: str, question: str, *values: object) -> bool:
    with psycopg.connect(uri) as connection:
        row = connection.execute(question, values).fetchone()
        return bool(row and row[0])


def main() -> None:
    settings = Settings()
    while True:
        time.sleep(LOOK_S)
        try:
            if servers(settings):
                subprocess.run([sys.executable, "-m", "local.stack", "stop-idle"], check=False)
        except psycopg.Error as error:  # it is started anew, perhaps
            print(error, flush=True)


if __name__ == "__main__":
    main()
