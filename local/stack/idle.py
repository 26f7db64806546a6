"""Stop servers that no run has needed for a while: `python -m local.stack.idle`, a process of the stack.

The process runs during measurements. So it imports little, and sends one query per minute to two databases.
"""

import os
import subprocess
import sys
import time

import psycopg

from local.stack import parts
from local.stack.settings import Settings

LOOK_S = 60
# The services only serve servers that runs provision, and a run removes its servers at its end.
SERVICES_MINUTES = 2
# Queries: whether Airflow has open runs, and whether a run of the last minutes needs a server. A store's key `server` names its connection.
OPEN_RUNS = "SELECT EXISTS (SELECT FROM dag_run WHERE state IN ('queued', 'running'))"
NEEDED = """
SELECT EXISTS (
    SELECT FROM storebench.run AS r
    JOIN storebench.run_cell AS rc ON rc.run_id = r.id
    JOIN storebench.cell AS c ON c.key = rc.cell_key
    JOIN storebench.study AS s ON s.name = r.study
    WHERE coalesce(r.finished_at, r.started_at) > now() - make_interval(mins => %s)
        AND EXISTS (
            SELECT FROM jsonb_array_elements(s.details -> 'stores') AS t
            WHERE t ->> 'name' = c.store AND t ->> 'server' = %s
        )
)
"""


def minutes(settings: Settings, part: str) -> int:
    """Return the minutes without a request after which the part is idle."""
    return SERVICES_MINUTES if part == parts.SERVICES else settings.idle_minutes


def servers(settings: Settings) -> list[str]:
    """Return the servers that neither `make` nor a run has requested lately; empty while a run is queued or running.

    Raises psycopg.Error if a database does not answer.
    """
    now = time.time()
    idle = [
        name
        for name in sorted(parts.started(settings))
        if parts.asked_at(settings, name) < now - minutes(settings, name) * 60
    ]
    if not idle or _true(
        os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].replace("+psycopg2", ""), OPEN_RUNS
    ):
        return []
    results = os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]
    return [
        name
        for name in idle
        if name == parts.SERVICES or not _true(results, NEEDED, settings.idle_minutes, name)
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
        except psycopg.Error as error:  # the database may be restarting
            print(error, flush=True)


if __name__ == "__main__":
    main()
