-- A run of three cells with two repeats, as sql/0018 had it. Of the last cell only one turn was recorded.

INSERT INTO storebench.dataset (id, schema_version, rows, seed, bytes, sha256, manifest)
VALUES ('v1/rows=20000/seed=7', 1, 20000, 7, 968123, repeat('0', 64), '{"rows": 20000}');

INSERT INTO storebench.environment (hash, details) VALUES
    ('e-mongodb', '{"server_name": "FerretDB", "image": "i", "kernel": "6.1"}'),
    ('e-spark', '{"server_name": "Delta Lake", "image": "j", "kernel": "6.1"}');

-- Their hashes are of these details: by them a backfill knows what it has measured.
INSERT INTO storebench.parameters (hash, details) VALUES
    ('8c40ec59dfb0ea7d', '{"pod_cpu": "500m", "cpu_limit": false, "pod_memory": "8Gi"}'),
    ('0b7ecbb42ccfed43', '{"pod_cpu": "500m", "cpu_limit": false, "pod_memory": "8Gi", "executor_cores": 1, "executor_cpu": "250m",
        "executor_memory": "1g", "executor_memory_overhead": "768m", "executor_encryption": true, "driver_memory": "2g"}');

INSERT INTO storebench.cell (key, study, store, client, axes, rows, seed)
SELECT concat('bulk_write_read/', store, '/reference/', place, '/rows=20000/seed=7'),
    'bulk_write_read', store, 'reference', axes::jsonb, 20000, 7
FROM (
    VALUES
    ('mongodb', 'batch=10000', '{"batch": "10000"}'),
    ('delta-spark', 'batch=all/executors=1', '{"batch": "all", "executors": "1"}'),
    ('delta-spark', 'batch=all/executors=2', '{"batch": "all", "executors": "2"}')
) AS v (store, place, axes);

-- All parameters, as its plan recorded them.
INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, params, order_seed, method_version, code_version, state, started_at)
VALUES ('bulk_write_read/manual__before', 'bulk_write_read', 'bulk_write_read', 'manual__before', '{
    "stores": ["mongodb", "delta-spark"], "clients": ["reference"], "batch_sizes": ["10000", "all"], "executors": ["1", "2"],
    "full_grid": true, "rows": 20000, "seed": 7, "repeats": 2, "skip_done": null, "warm_up": false, "a_a": false,
    "precision_percent": null, "budget_min": null, "random_order": true, "order_seed": null, "keep_data": false,
    "pod_cpu": "500m", "cpu_limit": false, "pod_memory": "8Gi", "startup_timeout_s": 120, "attempt_timeout_s": 3600,
    "executor_cores": 1, "executor_cpu": "250m", "executor_memory": "1g", "executor_memory_overhead": "768m",
    "executor_encryption": true, "driver_memory": "2g"
}', 5, 2, '0.1.0+gabc', 'failed', '2026-03-01 12:00+00');
-- Another one was refused: it has no cells.
INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, params, method_version, code_version, state, reason, started_at)
VALUES ('bulk_write_read/manual__refused', 'bulk_write_read', 'bulk_write_read', 'manual__refused',
    '{"rows": "-5", "batch_sizes": "10000"}', 2, '0.1.0+gabc', 'refused', 'Rows: -5 is not a whole number', '2026-02-01 12:00+00');

INSERT INTO storebench.run_cell (run_id, cell_key, repeat, position)
SELECT 'bulk_write_read/manual__before', c.key, v.repeat, row_number() OVER (ORDER BY v.repeat, c.key)
FROM storebench.cell AS c CROSS JOIN (VALUES (1), (2)) AS v (repeat)
WHERE v.repeat = 1 OR c.key NOT LIKE '%executors=2%';

INSERT INTO storebench.attempt (id, run_id, cell_key, repeat, operation, try_number, status, error_kind, error, dataset_id,
    environment_hash, parameters_hash, target, operation_s, source_s, barrier_s, total_s, memory_peak_bytes,
    memory_working_set_peak_bytes, cpu_s, client_cpu_share, client_cores_usable, figures_cover, server_name, server_version, delivers,
    durability, durability_stated, disturbed, node, method_version, code_version, recorded_at)
SELECT md5(concat(c.key, v.repeat, v.operation))::uuid, 'bulk_write_read/manual__before', c.key, v.repeat, v.operation,
    CASE v.status WHEN 'not_run' THEN 0 ELSE 1 END, v.status, v.error_kind, CASE WHEN v.error_kind IS NOT NULL THEN 'it was so' END,
    'v1/rows=20000/seed=7',
    CASE WHEN v.status <> 'not_run' THEN CASE c.store WHEN 'mongodb' THEN 'e-mongodb' ELSE 'e-spark' END END,
    CASE WHEN v.status <> 'not_run' THEN CASE c.store WHEN 'mongodb' THEN '8c40ec59dfb0ea7d' ELSE '0b7ecbb42ccfed43' END END,
    'storebench_t', v.operation_s, v.source_s, v.barrier_s, CASE WHEN v.status <> 'not_run' THEN 9 END, 300000000 + v.n,
    200000000 + v.n, 2.5, 0.5, CASE c.store WHEN 'mongodb' THEN 1 END, CASE c.store WHEN 'mongodb' THEN 'client' ELSE 'engine' END,
    CASE WHEN v.status <> 'not_run' THEN CASE c.store WHEN 'mongodb' THEN 'FerretDB' ELSE 'Delta Lake' END END, '2',
    CASE WHEN c.store = 'mongodb' AND v.operation = 'read' THEN 'dicts' END, v.durability,
    CASE v.durability WHEN 'disk' THEN 'j=true' END, v.disturbed, 'node1', 2, '0.1.0+gabc',
    '2026-03-01 12:00+00'::timestamptz + v.n * interval '1 minute'
FROM (
    VALUES
    (1, 'mongodb', '', 1, 'write', 'verified', NULL, 1.5, 0.4, 0.0, 'disk', NULL),
    (2, 'mongodb', '', 1, 'read', 'verified', NULL, 0.8, 0.0, 0.0, NULL, NULL),
    (3, 'mongodb', '', 2, 'write', 'verified', NULL, 1.7, 0.5, 0.0, 'disk', NULL),
    (4, 'mongodb', '', 2, 'read', 'failed', 'verification_failed', 0.3, 0.0, 0.0, NULL, NULL),
    (5, 'delta-spark', '1', 1, 'write', 'verified', NULL, 6.0, 0.2, 0.1, 's3', NULL),
    (6, 'delta-spark', '1', 1, 'read', 'verified', NULL, 4.0, 0.0, 0.0, NULL, NULL),
    (7, 'delta-spark', '2', 1, 'write', 'verified', NULL, 3.0, 0.2, 0.1, 's3', 'lost 1 of 2 executors'),
    (8, 'delta-spark', '2', 1, 'read', 'verified', NULL, 2.0, 0.0, 0.0, NULL, NULL),
    (9, 'delta-spark', '1', 2, 'write', 'failed', 'oom_killed', NULL, NULL, NULL, NULL, NULL),
    (10, 'delta-spark', '1', 2, 'read', 'not_run', 'not_run', NULL, NULL, NULL, NULL, NULL)
) AS v (n, store, executors, repeat, operation, status, error_kind, operation_s, source_s, barrier_s, durability, disturbed)
JOIN storebench.cell AS c ON c.store = v.store AND coalesce(c.axes ->> 'executors', '') = v.executors;

INSERT INTO storebench.phase (attempt_id, position, name, seconds)
SELECT a.id, v.position, v.name, 0.25 * v.position
FROM storebench.attempt AS a CROSS JOIN (VALUES (1, 'connect'), (2, 'operation')) AS v (position, name)
WHERE a.status <> 'not_run';

INSERT INTO storebench.executor (attempt_id, executor, pods, memory_working_set_peak_bytes, cpu_s)
SELECT a.id, n, 1, 7000000, 0.5
FROM storebench.attempt AS a JOIN storebench.cell AS c ON c.key = a.cell_key
CROSS JOIN generate_series(1, (c.axes ->> 'executors')::integer) AS n
WHERE a.operation_s IS NOT NULL;

INSERT INTO storebench.undropped (run_id, cell_key, repeat, bytes)
SELECT run_id, cell_key, repeat, 4096 FROM storebench.run_cell WHERE cell_key LIKE '%executors=1%' AND repeat = 2;

INSERT INTO storebench.baseline (name, run_id) VALUES ('before', 'bulk_write_read/manual__before');
