-- What users query: a row for each attempt. A client that is busy for 90 % of the cores that it can use is the bottleneck itself:
-- client_bound, which is null where the engine is in the pod.
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
    a.delivers,
    a.status,
    a.error_kind,
    a.error,
    a.disturbed,
    a.perhaps_disturbed,
    a.verification,
    CASE a.operation WHEN 'write' THEN a.operation_s END AS write_only_s,
    CASE a.operation WHEN 'read' THEN a.operation_s END AS read_only_s,
    a.source_s,
    a.barrier_s,
    a.durability,
    a.durability_stated,
    a.total_s,
    a.pod_total_s,
    a.figures_cover,
    a.memory_peak_bytes,
    a.memory_working_set_peak_bytes,
    a.memory_limit_bytes,
    a.cpu_s,
    a.throttled_s,
    a.throttled_periods,
    a.oom_kills,
    a.client_cpu_share,
    a.client_cores_usable,
    a.client_cpu_share >= 0.9 * a.client_cores_usable AS client_bound,
    a.node_cpu_some_share,
    a.node_memory_some_share,
    a.node_memory_full_share,
    a.node_io_some_share,
    a.node_io_full_share,
    a.node_steal_share,
    a.node_others_cores,
    a.node_strangers_cores,
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
    a.parameters_hash,
    -- no join: planning one costs each query, also those that do not ask for them
    (SELECT m.details FROM storebench.parameters AS m WHERE m.hash = a.parameters_hash) AS parameters,
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
        sum(x.pods) AS executor_pods,
        sum(x.memory_peak_bytes)::bigint AS executors_memory_peak_bytes,
        sum(x.memory_working_set_peak_bytes)::bigint AS executors_memory_working_set_peak_bytes,
        sum(x.cpu_s) AS executors_cpu_s
    FROM storebench.executor AS x
    WHERE x.attempt_id = a.id
) AS e ON true;
