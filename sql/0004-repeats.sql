-- Repeats: their order, their warm-ups and arms, what was left out on purpose, and what they say of a cell. And indexes for a
-- million attempts: the views look up what they need, row by row.

ALTER TABLE storebench.run ADD COLUMN order_seed bigint;

ALTER TABLE storebench.run_cell DROP CONSTRAINT run_cell_repeat_check;
ALTER TABLE storebench.run_cell ADD CONSTRAINT run_cell_repeat_check CHECK (repeat >= 0);
ALTER TABLE storebench.run_cell ADD COLUMN position integer;
ALTER TABLE storebench.run_cell ADD COLUMN arm text CHECK (arm IN ('A', 'B'));
ALTER TABLE storebench.run_cell ADD COLUMN skipped text;

-- A run that others are compared with, by name.
CREATE TABLE storebench.baseline (
    name text PRIMARY KEY,
    run_id text NOT NULL REFERENCES storebench.run (id),
    set_at timestamptz NOT NULL DEFAULT now()
);

-- Of the verified attempts of one cell's operation in one environment, warm-ups left out. Written when a run ends.
CREATE TABLE storebench.statistic (
    cell_key text NOT NULL REFERENCES storebench.cell (key),
    operation text NOT NULL,
    environment_hash text NOT NULL,
    method_version integer NOT NULL,
    n integer NOT NULL,
    median_s double precision NOT NULL,
    min_s double precision NOT NULL,
    max_s double precision NOT NULL,
    first_quartile_s double precision NOT NULL,
    third_quartile_s double precision NOT NULL,
    interval_low_s double precision,
    interval_high_s double precision,
    median_total_s double precision,
    median_working_set_peak_bytes double precision,
    PRIMARY KEY (cell_key, operation, environment_hash, method_version)
);

CREATE INDEX run_by_start ON storebench.run (started_at DESC);
CREATE INDEX attempt_by_time ON storebench.attempt (recorded_at DESC);
CREATE INDEX attempt_not_verified ON storebench.attempt (recorded_at DESC) WHERE status <> 'verified';
CREATE INDEX run_cell_by_cell ON storebench.run_cell (cell_key);

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
    a.repeat = 0 AS warm_up,
    p.arm,
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
    a.dataset_id,
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
JOIN storebench.run_cell AS p ON (p.run_id, p.cell_key, p.repeat) = (a.run_id, a.cell_key, a.repeat)
LEFT JOIN LATERAL (
    SELECT
        nullif(count(*), 0) AS executor_pods,
        sum(x.memory_peak_bytes)::bigint AS executors_memory_peak_bytes,
        sum(x.memory_working_set_peak_bytes)::bigint AS executors_memory_working_set_peak_bytes,
        sum(x.cpu_s) AS executors_cpu_s
    FROM storebench.executor AS x
    WHERE x.attempt_id = a.id
) AS e ON true;

-- The newest attempt of each cell and operation, warm-ups left out.
CREATE VIEW storebench.latest AS
SELECT newest.*
FROM storebench.cell AS c
CROSS JOIN (VALUES ('write'), ('read')) AS o (operation)
CROSS JOIN LATERAL (
    SELECT r.*
    FROM storebench.results AS r
    WHERE r.cell_key = c.key AND r.operation = o.operation AND NOT r.warm_up
    ORDER BY r.recorded_at DESC
    LIMIT 1
) AS newest;

CREATE VIEW storebench.summary AS
SELECT
    c.study,
    c.store,
    c.client,
    c.axes ->> 'batch' AS batch_size,
    (c.axes ->> 'executors')::integer AS executors,
    c.rows,
    c.seed,
    s.operation,
    s.environment_hash,
    s.method_version,
    s.n,
    s.median_s,
    s.min_s,
    s.max_s,
    s.first_quartile_s,
    s.third_quartile_s,
    s.third_quartile_s - s.first_quartile_s AS interquartile_range_s,
    s.interval_low_s,
    s.interval_high_s,
    s.median_total_s,
    s.median_working_set_peak_bytes,
    s.cell_key
FROM storebench.statistic AS s
JOIN storebench.cell AS c ON c.key = s.cell_key;
