-- All that an attempt reports, by name: what had a column of its own, and the rows a second, which were computed by whoever read them.
-- The statistics have a row for each metric.

DROP VIEW IF EXISTS storebench.summary;
DROP VIEW IF EXISTS storebench.newest;
DROP VIEW IF EXISTS storebench.latest;
DROP VIEW IF EXISTS storebench.results;

ALTER TABLE storebench.attempt ADD COLUMN metrics jsonb NOT NULL DEFAULT '{}';
UPDATE storebench.attempt AS a
SET metrics = jsonb_strip_nulls(jsonb_build_object(
    'only_s', a.value, 'source_s', a.source_s, 'barrier_s', a.barrier_s,
    'rows_per_s', CASE WHEN a.status = 'verified' THEN c.rows / nullif(a.value, 0) END
))
FROM storebench.cell AS c
WHERE c.key = a.cell_key AND num_nonnulls(a.value, a.source_s, a.barrier_s) > 0;
ALTER TABLE storebench.attempt DROP COLUMN source_s, DROP COLUMN barrier_s;

ALTER TABLE storebench.statistic ADD COLUMN metric text NOT NULL DEFAULT 'only_s';
ALTER TABLE storebench.statistic ALTER COLUMN metric DROP DEFAULT;
ALTER TABLE storebench.statistic DROP CONSTRAINT statistic_pkey;
ALTER TABLE storebench.statistic
    ADD PRIMARY KEY (cell_key, operation, metric, environment_hash, parameters_hash, method_version);
ALTER TABLE storebench.statistic RENAME COLUMN median_s TO median;
ALTER TABLE storebench.statistic RENAME COLUMN min_s TO min;
ALTER TABLE storebench.statistic RENAME COLUMN max_s TO max;
ALTER TABLE storebench.statistic RENAME COLUMN first_quartile_s TO first_quartile;
ALTER TABLE storebench.statistic RENAME COLUMN third_quartile_s TO third_quartile;
ALTER TABLE storebench.statistic RENAME COLUMN interval_low_s TO interval_low;
ALTER TABLE storebench.statistic RENAME COLUMN interval_high_s TO interval_high;
-- Of the pods' times and memory only the medians were kept.
ALTER TABLE storebench.statistic ALTER COLUMN min DROP NOT NULL;
ALTER TABLE storebench.statistic ALTER COLUMN max DROP NOT NULL;
ALTER TABLE storebench.statistic ALTER COLUMN first_quartile DROP NOT NULL;
ALTER TABLE storebench.statistic ALTER COLUMN third_quartile DROP NOT NULL;
INSERT INTO storebench.statistic
    (cell_key, operation, metric, environment_hash, parameters_hash, method_version, n, median, figures_cover)
SELECT s.cell_key, s.operation, 'total_s', s.environment_hash, s.parameters_hash, s.method_version, s.n, s.median_total_s, s.figures_cover
FROM storebench.statistic AS s WHERE s.metric = 'only_s' AND s.median_total_s IS NOT NULL;
INSERT INTO storebench.statistic
    (cell_key, operation, metric, environment_hash, parameters_hash, method_version, n, median, figures_cover)
SELECT s.cell_key, s.operation, 'all_memory_working_set_peak_bytes', s.environment_hash, s.parameters_hash, s.method_version, s.n,
    s.median_working_set_peak_bytes, s.figures_cover
FROM storebench.statistic AS s WHERE s.metric = 'only_s' AND s.median_working_set_peak_bytes IS NOT NULL;
ALTER TABLE storebench.statistic DROP COLUMN median_total_s, DROP COLUMN median_working_set_peak_bytes;
