-- Spark's executor pods: their figures, and their sum with the driver's in the views. And what a cell sets out to do: a store
-- may only read.

ALTER TABLE storebench.run_cell ADD COLUMN operations text[] NOT NULL DEFAULT '{write,read}';

CREATE TABLE storebench.executor (
    attempt_id uuid NOT NULL REFERENCES storebench.attempt (id),
    executor text NOT NULL,
    memory_peak_bytes bigint,
    memory_working_set_peak_bytes bigint,
    cpu_s double precision,
    oom_kills integer,
    PRIMARY KEY (attempt_id, executor)
);

DROP VIEW storebench.summary;
DROP VIEW storebench.latest;
DROP VIEW storebench.results;

CREATE VIEW storebench.results AS
SELECT
    r.airflow_run_id AS run,
    c.study,
    c.store,
    c.client,
    c.axes ->> 'batch' AS batch_size,
    (c.axes ->> 'executors')::integer AS executors,
    c.rows,
    c.seed,
    a.repeat,
    a.operation,
    a.status,
    a.error_kind,
    a.error,
    CASE a.operation WHEN 'write' THEN a.operation_s END AS write_only_s,
    CASE a.operation WHEN 'read' THEN a.operation_s END AS read_only_s,
    a.source_s,
    a.barrier_s,
    a.total_s,
    a.pod_total_s,
    a.memory_peak_bytes,
    a.memory_working_set_peak_bytes,
    a.memory_limit_bytes,
    a.cpu_s,
    a.throttled_s,
    a.throttled_periods,
    a.oom_kills,
    a.client_cpu_share,
    a.client_cpu_share >= 0.9 AS client_bound,
    a.server_name,
    a.server_version,
    d.bytes AS dataset_bytes,
    e.executor_pods,
    e.executors_memory_peak_bytes,
    e.executors_memory_working_set_peak_bytes,
    e.executors_cpu_s,
    a.memory_peak_bytes + coalesce(e.executors_memory_peak_bytes, 0) AS all_memory_peak_bytes,
    a.memory_working_set_peak_bytes + coalesce(e.executors_memory_working_set_peak_bytes, 0)
        AS all_memory_working_set_peak_bytes,
    a.cpu_s + coalesce(e.executors_cpu_s, 0) AS all_cpu_s,
    a.environment_hash,
    a.method_version,
    a.code_version,
    a.exit_code,
    a.node,
    a.pod,
    a.target,
    a.started_at,
    a.finished_at,
    a.recorded_at,
    a.cell_key,
    a.try_number,
    a.run_id,
    a.id AS attempt_id
FROM storebench.attempt AS a
JOIN storebench.run AS r ON r.id = a.run_id
JOIN storebench.cell AS c ON c.key = a.cell_key
LEFT JOIN storebench.dataset AS d ON d.id = a.dataset_id
LEFT JOIN (
    SELECT
        attempt_id,
        count(*) AS executor_pods,
        sum(memory_peak_bytes)::bigint AS executors_memory_peak_bytes,
        sum(memory_working_set_peak_bytes)::bigint AS executors_memory_working_set_peak_bytes,
        sum(cpu_s) AS executors_cpu_s
    FROM storebench.executor
    GROUP BY attempt_id
) AS e ON e.attempt_id = a.id;

-- The newest attempt of each cell and operation.
CREATE VIEW storebench.latest AS
SELECT DISTINCT ON (cell_key, operation) *
FROM storebench.results
ORDER BY cell_key, operation, recorded_at DESC;

-- Verified attempts only. Confidence intervals and verdicts are not here yet.
CREATE VIEW storebench.summary AS
SELECT
    study,
    store,
    client,
    batch_size,
    executors,
    rows,
    seed,
    operation,
    environment_hash,
    method_version,
    count(*) AS n,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY coalesce(write_only_s, read_only_s)) AS median_s,
    min(coalesce(write_only_s, read_only_s)) AS min_s,
    max(coalesce(write_only_s, read_only_s)) AS max_s,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY total_s) AS median_total_s,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY all_memory_working_set_peak_bytes) AS median_working_set_peak_bytes,
    cell_key
FROM storebench.results
WHERE status = 'verified'
GROUP BY study, store, client, batch_size, executors, rows, seed, operation, environment_hash, method_version, cell_key;
