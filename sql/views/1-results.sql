-- The view for users: a row for each attempt of any study, with the columns that all attempts share, and the operation's ranking metric.
-- Each study has views of its own, with its axes and all its metrics as columns (storebench.results.database.study_views). A client that uses at
-- least 90 % of its usable cores is the bottleneck: client_bound, which is null if the engine is in the pod. If several pods did the
-- operation together, one such pod is enough. service_bound is the same
-- for a service in front of the store, and null without a service or without an agent that watches the service.
CREATE VIEW storebench.results AS
SELECT
    r.airflow_run_id AS run,
    r.tags,
    c.study,
    c.store,
    c.client,
    c.axes,
    c.rows,
    c.seed,
    a.repeat,
    a.repeat = 0 AS warm_up,
    p.arm,
    a.operation,
    a.status,
    a.error_kind,
    a.error,
    a.verification,
    a.metric,
    a.value,
    -- the metric's unit, by the end of the metric's name: storebench.study.model.unit_of
    storebench.unit(a.metric) AS unit,
    a.metrics,
    -- FIGURES: `storebench migrate` puts the columns of storebench.protocol.figures here
    -- Null without a recorded verification phase, as in pods that do not report their phases: the verification's time is unknown.
    -- A subquery instead of a join, as for the parameters below
    (
        SELECT a.total_s - sum(v.seconds) FROM storebench.phase AS v
        WHERE v.attempt_id = a.id AND v.name = 'verify' HAVING sum(v.seconds) <= a.total_s
    ) AS work_total_s,
    a.pod_total_s,
    a.client_cpu_share >= 0.9 * a.client_cores_usable
        OR coalesce(u.clients_bound, a.client_cpu_share >= 0.9 * a.client_cores_usable) AS client_bound,
    a.service_cpu_share >= 0.9 * a.service_cores_usable AS service_bound,
    a.server_name,
    a.server_version,
    a.dataset_id,
    d.bytes AS dataset_bytes,
    -- unknown for an attempt that failed before its pods left their results
    CASE WHEN a.status = 'verified' OR u.clients IS NOT NULL THEN 1 + coalesce(u.clients, 0) END AS client_pods,
    u.executor_pods,
    u.executors_memory_peak_bytes,
    u.executors_memory_working_set_peak_bytes,
    u.executors_cpu_s,
    u.server_pods,
    u.servers_memory_working_set_peak_bytes,
    u.servers_cpu_s,
    u.servers_throttled_s,
    u.servers_read_bytes,
    u.servers_written_bytes,
    u.servers_data_bytes,
    u.servers_restarts,
    -- for servers, only the working set is known
    CASE WHEN u.server_pods IS NULL THEN a.memory_peak_bytes + coalesce(u.executors_memory_peak_bytes, 0)
        + CASE WHEN u.clients IS NULL THEN 0 ELSE u.clients_memory_peak_bytes END END
        AS all_memory_peak_bytes,
    a.memory_working_set_peak_bytes + coalesce(u.executors_memory_working_set_peak_bytes, 0)
        + CASE WHEN u.clients IS NULL THEN 0 ELSE u.clients_memory_working_set_peak_bytes END
        + CASE WHEN u.server_pods IS NULL THEN 0 ELSE u.servers_memory_working_set_peak_bytes END
        AS all_memory_working_set_peak_bytes,
    a.cpu_s + coalesce(u.executors_cpu_s, 0) + CASE WHEN u.server_pods IS NULL THEN 0 ELSE u.servers_cpu_s END
        + CASE WHEN u.clients IS NULL THEN 0 ELSE u.clients_cpu_s END AS all_cpu_s,
    a.environment_hash,
    a.parameters_hash,
    -- a subquery instead of a join: planning a join costs each query, even without this column
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
-- Each attempt has these rows. LEFT JOIN lets the planner remove a join whose columns a query does not use
LEFT JOIN storebench.run AS r ON r.id = a.run_id
LEFT JOIN storebench.cell AS c ON c.key = a.cell_key
LEFT JOIN storebench.dataset AS d ON d.id = a.dataset_id
LEFT JOIN storebench.run_cell AS p ON (p.run_id, p.cell_key, p.repeat) = (a.run_id, a.cell_key, a.repeat)
LEFT JOIN LATERAL (
    SELECT
        -- the parts beside the attempt's own pod. A sum over them is null if the figure of one part is unknown, as below for servers
        sum(x.pods) FILTER (WHERE x.role = 'client') AS clients,
        bool_or(x.client_cpu_share >= 0.9 * x.client_cores_usable) FILTER (WHERE x.role = 'client') AS clients_bound,
        CASE WHEN bool_and(x.memory_peak_bytes IS NOT NULL) FILTER (WHERE x.role = 'client')
            THEN sum(x.memory_peak_bytes) FILTER (WHERE x.role = 'client')::bigint
        END AS clients_memory_peak_bytes,
        CASE WHEN bool_and(x.memory_working_set_peak_bytes IS NOT NULL) FILTER (WHERE x.role = 'client')
            THEN sum(x.memory_working_set_peak_bytes) FILTER (WHERE x.role = 'client')::bigint
        END AS clients_memory_working_set_peak_bytes,
        CASE WHEN bool_and(x.cpu_s IS NOT NULL) FILTER (WHERE x.role = 'client')
            THEN sum(x.cpu_s) FILTER (WHERE x.role = 'client')
        END AS clients_cpu_s,
        sum(x.pods) FILTER (WHERE x.role = 'executor') AS executor_pods,
        sum(x.memory_peak_bytes) FILTER (WHERE x.role = 'executor')::bigint AS executors_memory_peak_bytes,
        sum(x.memory_working_set_peak_bytes) FILTER (WHERE x.role = 'executor')::bigint
            AS executors_memory_working_set_peak_bytes,
        sum(x.cpu_s) FILTER (WHERE x.role = 'executor') AS executors_cpu_s,
        sum(x.pods) FILTER (WHERE x.role = 'server') AS server_pods,
        -- null if the figure of one server is unknown: a partial sum would look like the sum of all servers
        CASE WHEN bool_and(x.memory_working_set_peak_bytes IS NOT NULL) FILTER (WHERE x.role = 'server')
            THEN sum(x.memory_working_set_peak_bytes) FILTER (WHERE x.role = 'server')::bigint
        END AS servers_memory_working_set_peak_bytes,
        CASE WHEN bool_and(x.cpu_s IS NOT NULL) FILTER (WHERE x.role = 'server')
            THEN sum(x.cpu_s) FILTER (WHERE x.role = 'server')
        END AS servers_cpu_s,
        sum(x.throttled_s) FILTER (WHERE x.role = 'server') AS servers_throttled_s,
        sum(x.read_bytes)::bigint AS servers_read_bytes,
        sum(x.written_bytes)::bigint AS servers_written_bytes,
        sum(x.data_bytes)::bigint AS servers_data_bytes,
        sum(x.restarts) AS servers_restarts
    FROM storebench.usage AS x
    WHERE x.attempt_id = a.id
) AS u ON true;
