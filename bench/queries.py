"""How long the main queries take in a database of many attempts: `python -m bench.queries`, needs the results' Postgres.

The queries of docs/results.md, and those behind the command line. The database is made for it, and dropped again.
"""

from __future__ import annotations

import os
import re
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
import psycopg
from rich.console import Console
from rich.table import Table

from bench.scratch import scratch
from storebench.results.migrate import migrate
from storebench.results.queries import Queries

DOCUMENTATION = Path(__file__).parents[1] / "docs" / "results.md"
CELLS = 400
RUN_ATTEMPTS = 200  # of one run

# Of each run: half of its cells' numbers are written and read once.
FILL = """
INSERT INTO storebench.dataset (id, schema_version, rows, seed, bytes, sha256, manifest)
VALUES ('v1/rows=20000/seed=42', 1, 20000, 42, 9681234, '', '{{}}');
INSERT INTO storebench.environment (hash, details)
SELECT 'e' || n, jsonb_build_object('server_name', 'FerretDB', 'server_version', n, 'image', 'i')
FROM generate_series(1, 20) AS n;
INSERT INTO storebench.cell (key, study, store, client, axes, rows, seed)
SELECT format('bulk_write_read/%s/reference/batch=%s/rows=20000/seed=42', s, 100 * n),
    'bulk_write_read', s, 'reference', jsonb_build_object('batch', (100 * n)::text), 20000, 42
FROM unnest('{{mongodb,elasticsearch,delta-rs,"null"}}'::text[]) AS s, generate_series(1, {cells} / 4) AS n;
INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, params, method_version, code_version, state, started_at)
SELECT 'bulk_write_read/r' || n, 'bulk_write_read', 'bulk_write_read', 'r' || n, '{{}}', 1, '0.1.0', 'success',
    now() - interval '1 hour' * ({runs} - n)
FROM generate_series(1, {runs}) AS n;
CREATE TEMP TABLE numbered AS SELECT key, row_number() OVER (ORDER BY key) - 1 AS place FROM storebench.cell;
CREATE TEMP TABLE planned AS
SELECT r AS run, n AS turn, c.key
FROM generate_series(1, {runs}) AS r, generate_series(0, {per_run} / 2 - 1) AS n
JOIN numbered AS c ON true WHERE c.place = (r * 7 + n) % {cells};
INSERT INTO storebench.run_cell (run_id, cell_key, repeat, position)
SELECT 'bulk_write_read/r' || run, key, 1, turn + 1 FROM planned;
INSERT INTO storebench.attempt (id, run_id, cell_key, repeat, operation, try_number, status, error_kind, error, dataset_id,
    environment_hash, operation_s, source_s, barrier_s, total_s, memory_working_set_peak_bytes, memory_peak_bytes, cpu_s,
    client_cpu_share, server_name, server_version, method_version, code_version, recorded_at)
SELECT gen_random_uuid(), 'bulk_write_read/r' || p.run, p.key, 1, o, 1, s.status,
    CASE WHEN s.status <> 'verified' THEN 'unreachable' END, CASE WHEN s.status <> 'verified' THEN 'down' END,
    'v1/rows=20000/seed=42', 'e' || (1 + p.run % 20), 1 + random() / 10, 0.5, 0.01, 4, 200000000, 300000000, 3,
    random(), 'FerretDB', '2.7', 1, '0.1.0',
    now() - interval '1 hour' * ({runs} - p.run) + interval '1 second' * (2 * p.turn + (o = 'read')::integer)
FROM planned AS p, unnest('{{write,read}}'::text[]) AS o,
    LATERAL (SELECT CASE WHEN random() < 0.01 THEN 'failed' ELSE 'verified' END AS status WHERE p.key IS NOT NULL) AS s;
INSERT INTO storebench.phase (attempt_id, position, name, seconds)
SELECT id, n, 'phase ' || n, 0.1 FROM storebench.attempt, generate_series(1, 3) AS n;
INSERT INTO storebench.statistic
SELECT cell_key, operation, environment_hash, 1, count(*), 1.05, 1, 1.1, 1.02, 1.08, 1.04, 1.06, 4, 200000000
FROM storebench.attempt WHERE status = 'verified' GROUP BY cell_key, operation, environment_hash;
"""


def measured(uri: str) -> dict[str, Callable[[], object]]:
    """What is timed, by its name."""
    text = DOCUMENTATION.read_text()
    documented = dict(re.findall(r"\n([^\n]+):\n\n```sql\n(.*?)```", text, re.DOTALL))
    queries = Queries(uri)
    run = str(queries.run_named("latest")["id"])
    cells = queries.cells_of_run(run)[:1]
    connection = psycopg.connect(uri, autocommit=True)

    def fetch(query: str) -> list[object]:
        return list(connection.execute(query).fetchall())

    return {
        **{name: partial(fetch, query) for name, query in documented.items()},
        "storebench runs": lambda: queries.runs(20),
        "storebench results --run latest": lambda: queries.results(run="latest", limit=1000),
        "storebench results --store null, newest 100": lambda: queries.results(store="null", limit=100),
        "storebench compare: the attempts of a run": lambda: queries.attempts_of_run(run),
        "storebench compare: the attempts of a cell": lambda: queries.attempts_of_cells(cells),
        "a run's plan: the newest environment": lambda: queries.newest_environment(
            "mongodb", "reference", "read"
        ),
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--attempts", type=click.IntRange(1_000), default=1_000_000, show_default=True)
@click.option(
    "--rounds", type=click.IntRange(1), default=5, show_default=True, help="Times that each is run."
)
def main(attempts: int, rounds: int) -> None:
    """The main queries' times in a database with many attempts."""
    console = Console(width=110)
    server = os.environ.get("AIRFLOW_CONN_STOREBENCH_RESULTS")
    if not server:
        raise click.ClickException(
            "AIRFLOW_CONN_STOREBENCH_RESULTS is not set: run this with `make bench-queries`"
        )
    with scratch(server) as uri:
        migrate(uri)
        console.print(f"making {attempts:,} attempts")
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute(FILL.format(cells=CELLS, runs=attempts // RUN_ATTEMPTS, per_run=RUN_ATTEMPTS))
            connection.execute("VACUUM (ANALYZE)")
        table = Table(title=f"ms of {rounds} rounds, {attempts:,} attempts at {CELLS} cells")
        table.add_column("query")
        for heading in ("rows", "median, ms", "max, ms"):
            table.add_column(heading, justify="right")
        medians = []
        for name, query in measured(uri).items():
            times_ms = []
            for _ in range(rounds):
                began_s = time.perf_counter()
                rows = query()
                times_ms.append((time.perf_counter() - began_s) * 1000)
            medians.append(statistics.median(times_ms))
            count = len(rows) if isinstance(rows, list) else 1
            table.add_row(name, str(count), f"{medians[-1]:.1f}", f"{max(times_ms):.1f}")
        console.print(table)
    print(f"max_ms={max(medians):.1f} attempts={attempts} queries={len(medians)}")


if __name__ == "__main__":
    main()
