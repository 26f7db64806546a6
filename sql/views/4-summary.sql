-- The statistics of each cell's verified attempts that were not disturbed, as they were when a run of it last ended: a row for each
-- operation's first metric, and for each that a chart of the study shows. An interval whose coverage is not known, as in rows from before
-- it was recorded, is not shown.
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
