-- The statistics of each cell's verified, undisturbed attempts as of the end of the cell's last run: a row for the first metric of each
-- operation, and for each metric of the study's charts. An interval without a recorded coverage is null.
CREATE VIEW storebench.summary AS
SELECT
    c.study,
    c.store,
    c.client,
    c.axes,
    c.rows,
    c.seed,
    s.operation,
    s.metric,
    storebench.unit(s.metric) AS unit,
    s.environment_hash,
    nullif(s.parameters_hash, '') AS parameters_hash,
    m.details AS parameters,
    s.method_version,
    s.n,
    s.median,
    s.min,
    s.max,
    s.first_quartile,
    s.third_quartile,
    s.third_quartile - s.first_quartile AS interquartile_range,
    CASE WHEN s.interval_coverage IS NOT NULL THEN s.interval_low END AS interval_low,
    CASE WHEN s.interval_coverage IS NOT NULL THEN s.interval_high END AS interval_high,
    s.interval_coverage,
    s.figures_cover,
    s.cell_key
FROM storebench.statistic AS s
JOIN storebench.cell AS c ON c.key = s.cell_key
LEFT JOIN storebench.parameters AS m ON m.hash = s.parameters_hash;
