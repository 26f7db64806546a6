-- The latest result of each cell and operation: the newest verified, undisturbed attempt without warm-ups, and the ranking metric's median
-- over all comparable attempts. Later attempts that failed or were not run do not matter.
CREATE VIEW storebench.latest AS
SELECT
    newest.*,
    -- the statistics do not include attempts of open runs yet
    coalesce(s.n, 1) AS n,
    coalesce(s.median, newest.value) AS median,
    jsonb_build_object(
        'method_version', newest.method_version,
        'durability', newest.durability,
        'delivers', newest.delivers,
        -- the parameters that every store has, and the environment's machine
        'pod_cpu', newest.parameters -> 'pod_cpu',
        'cpu_limit', newest.parameters -> 'cpu_limit',
        'pod_memory', newest.parameters -> 'pod_memory',
        'kernel', e.details -> 'kernel',
        'cpu_model', e.details -> 'cpu_model',
        'cpus', e.details -> 'cpus',
        'memory_gib', e.details -> 'memory_gib'
    ) || jsonb_strip_nulls(
        -- and the study's own parameters, and the sizes of servers that the run provisioned: other parameters belong to single stores
        jsonb_build_object('parameters', (
            SELECT jsonb_object_agg(p.key, p.value) FROM jsonb_each(newest.parameters) AS p
            WHERE p.key = ANY(t.own) AND p.value <> 'null'
        ))
    ) AS conditions
FROM storebench.cell AS c
JOIN (
    SELECT
        s.name,
        s.operations,
        ARRAY(
            SELECT p.param ->> 'name' FROM jsonb_array_elements(s.details -> 'params') AS p (param)
            WHERE NOT EXISTS (
                SELECT FROM jsonb_array_elements(s.details -> 'stores') AS o (store)
                WHERE (o.store -> 'options') ? (p.param ->> 'name')
            )
        ) || '{server_cpu,server_memory,server_disk,server_storage_class,server_copies}' AS own
    FROM storebench.study AS s
    OFFSET 0 -- once for each study, not for each row
) AS t ON t.name = c.study
CROSS JOIN LATERAL unnest(t.operations) AS o (operation)
CROSS JOIN LATERAL (
    SELECT r.*
    FROM storebench.results AS r
    WHERE r.cell_key = c.key AND r.operation = o.operation AND r.status = 'verified' AND r.disturbed IS NULL AND NOT r.warm_up
    ORDER BY r.recorded_at DESC
    LIMIT 1
) AS newest
LEFT JOIN storebench.environment AS e ON e.hash = newest.environment_hash
LEFT JOIN storebench.statistic AS s
    ON (s.cell_key, s.operation, s.metric, s.environment_hash, s.parameters_hash, s.method_version)
    = (
        newest.cell_key, newest.operation, newest.metric, newest.environment_hash, coalesce(newest.parameters_hash, ''),
        newest.method_version
    );
