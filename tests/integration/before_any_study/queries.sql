-- What docs/results.md and README.md asked. The columns are those of today's queries, in their order.

-- The newest run
SELECT store, batch_size, operation, coalesce(write_only_s, read_only_s) AS only_s, total_s,
       memory_working_set_peak_bytes / 1048576 AS memory_mib, figures_cover, status, durability, disturbed
FROM storebench.results
WHERE run_id = (SELECT id FROM storebench.run ORDER BY started_at DESC LIMIT 1)
ORDER BY store, batch_size, operation DESC;

-- Rows a second
SELECT operation, cell_key, n, round((rows / median_s)::numeric) AS rows_per_s, durability, delivers, conditions
FROM storebench.latest ORDER BY operation, conditions, rows_per_s DESC;

-- Where the newest attempt says nothing
SELECT cell_key, operation, status, disturbed, error_kind, error, recorded_at
FROM storebench.newest WHERE status <> 'verified' OR disturbed IS NOT NULL ORDER BY recorded_at DESC LIMIT 50;

-- What failed
SELECT recorded_at, cell_key, operation, error_kind, error
FROM storebench.results WHERE status <> 'verified' ORDER BY recorded_at DESC LIMIT 20;

-- What was disturbed
SELECT recorded_at, cell_key, operation, disturbed, node_cpu_some_share, node_steal_share, node_others_cores
FROM storebench.results WHERE disturbed IS NOT NULL ORDER BY recorded_at DESC LIMIT 20;

-- Where the time of an attempt went
SELECT a.cell_key, a.operation, p.name, round(p.seconds::numeric, 3) AS seconds
FROM storebench.attempt AS a JOIN storebench.phase AS p ON p.attempt_id = a.id
WHERE a.run_id = (SELECT id FROM storebench.run ORDER BY started_at DESC LIMIT 1)
ORDER BY a.recorded_at, p.position;

-- What is known of each cell
SELECT cell_key, operation, n, round(median_s::numeric, 3) AS median_s, round(interval_low_s::numeric, 3) AS low_s,
       round(interval_high_s::numeric, 3) AS high_s, interval_coverage, round(interquartile_range_s::numeric, 3) AS iqr_s
FROM storebench.summary ORDER BY operation, median_s;

-- Which stores are fastest
SELECT rows, seed, batch_size, operation, rank() OVER alike AS rank, store, client, executors, n, median_s, durability, delivers,
       parameters, conditions
FROM storebench.latest
WHERE client_bound IS NOT TRUE AND store <> 'null'
WINDOW alike AS (PARTITION BY rows, seed, batch_size, operation, conditions ORDER BY median_s)
ORDER BY rows, seed, batch_size, operation, conditions, rank LIMIT 100;

-- One cell over time
SELECT recorded_at, run, coalesce(write_only_s, read_only_s) AS only_s, environment_hash, parameters, code_version
FROM storebench.results
WHERE cell_key = 'bulk_write_read/mongodb/reference/batch=10000/rows=20000/seed=7' AND operation = 'write'
  AND status = 'verified' AND disturbed IS NULL AND NOT warm_up
ORDER BY recorded_at DESC LIMIT 50;

-- What changed between the environments
SELECT e.first_seen_at, d.key, d.value
FROM storebench.environment AS e CROSS JOIN LATERAL jsonb_each(e.details) AS d
WHERE e.details ->> 'server_name' = 'FerretDB' ORDER BY d.key, e.first_seen_at LIMIT 100;

-- What executors gain
SELECT store, client, batch_size, rows, seed, operation, executors, median_s,
       round((first_value(median_s) OVER cells / median_s)::numeric, 2) AS speedup
FROM storebench.summary WHERE executors IS NOT NULL
WINDOW cells AS (PARTITION BY store, client, batch_size, rows, seed, operation, environment_hash, parameters_hash,
                         method_version ORDER BY executors);

-- CPU and memory for each million rows
SELECT figures_cover, cell_key, operation, round((all_cpu_s * 1e6 / rows)::numeric, 1) AS cpu_s_per_million_rows,
       all_memory_working_set_peak_bytes / 1048576 AS memory_mib
FROM storebench.latest
ORDER BY figures_cover, operation, cpu_s_per_million_rows;

-- README.md
SELECT store, operation, n, median_s FROM storebench.summary ORDER BY store, operation, median_s;
