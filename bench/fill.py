"""Fills a results database with as many attempts as wanted, for what is measured in a full one."""

from __future__ import annotations

import psycopg

from storebench.results.migrate import migrate

CELLS = 400
RUN_ATTEMPTS = 200  # of one run

# Of each run: half of its cells' numbers are written and read once.
FILL = """
INSERT INTO storebench.dataset (id, schema_version, rows, seed, bytes, sha256, manifest)
VALUES ('v1/rows=20000/seed=42', 1, 20000, 42, 9681234, '', '{{}}');
INSERT INTO storebench.environment (hash, details)
SELECT 'e' || n, jsonb_build_object('server_name', 'FerretDB', 'server_version', n, 'image', 'i')
FROM generate_series(1, 20) AS n;
INSERT INTO storebench.parameters (hash, details)
SELECT 'p' || n, jsonb_build_object('pod_cpu', n, 'cpu_limit', false, 'pod_memory', '8Gi') FROM generate_series(1, 2) AS n;
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
    environment_hash, parameters_hash, operation_s, source_s, barrier_s, total_s, memory_working_set_peak_bytes, memory_peak_bytes, cpu_s,
    client_cpu_share, disturbed, server_name, server_version, method_version, code_version, recorded_at)
SELECT gen_random_uuid(), 'bulk_write_read/r' || p.run, p.key, 1, o, 1, s.status,
    CASE WHEN s.status <> 'verified' THEN 'unreachable' END, CASE WHEN s.status <> 'verified' THEN 'down' END,
    'v1/rows=20000/seed=42', 'e' || (1 + p.run % 20), 'p' || (1 + p.run % 2), 1 + random() / 10, 0.5, 0.01, 4, 200000000, 300000000, 3,
    random(), CASE WHEN s.status = 'verified' AND random() < 0.001 THEN 'throttled in 3 periods' END, 'FerretDB', '2.7', 1, '0.1.0',
    now() - interval '1 hour' * ({runs} - p.run) + interval '1 second' * (2 * p.turn + (o = 'read')::integer)
FROM planned AS p, unnest('{{write,read}}'::text[]) AS o,
    LATERAL (SELECT CASE WHEN random() < 0.01 THEN 'failed' ELSE 'verified' END AS status WHERE p.key IS NOT NULL) AS s;
INSERT INTO storebench.phase (attempt_id, position, name, seconds)
SELECT id, n, 'phase ' || n, 0.1 FROM storebench.attempt, generate_series(1, 3) AS n;
INSERT INTO storebench.statistic
SELECT cell_key, operation, environment_hash, 1, count(*), 1.05, 1, 1.1, 1.02, 1.08, 1.04, 1.06, 4, 200000000, parameters_hash
FROM storebench.attempt WHERE status = 'verified' GROUP BY cell_key, operation, environment_hash, parameters_hash;
"""


def fill(uri: str, attempts: int) -> None:
    """Bring the empty database at `uri` up to date, and make that many attempts in it, of CELLS cells."""
    migrate(uri)
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(FILL.format(cells=CELLS, runs=attempts // RUN_ATTEMPTS, per_run=RUN_ATTEMPTS))
        connection.execute("VACUUM (ANALYZE)")
