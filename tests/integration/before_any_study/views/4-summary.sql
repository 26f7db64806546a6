-- The statistics of each cell's verified attempts that were not disturbed, as they were when a run of it last ended. An interval whose
-- coverage is not known, as in rows from before it was recorded, is not shown.
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
    nullif(s.parameters_hash, '') AS parameters_hash,
    m.details AS parameters,
    s.method_version,
    s.n,
    s.median_s,
    s.min_s,
    s.max_s,
    s.first_quartile_s,
    s.third_quartile_s,
    s.third_quartile_s - s.first_quartile_s AS interquartile_range_s,
    CASE WHEN s.interval_coverage IS NOT NULL THEN s.interval_low_s END AS interval_low_s,
    CASE WHEN s.interval_coverage IS NOT NULL THEN s.interval_high_s END AS interval_high_s,
    s.interval_coverage,
    s.median_total_s,
    s.figures_cover,
    s.median_working_set_peak_bytes,
    s.cell_key
FROM storebench.statistic AS s
JOIN storebench.cell AS c ON c.key = s.cell_key
LEFT JOIN storebench.parameters AS m ON m.hash = s.parameters_hash;
