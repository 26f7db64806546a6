-- Of the verified attempts that were not disturbed: too few of each for intervals.
INSERT INTO storebench.statistic (cell_key, operation, environment_hash, parameters_hash, method_version, n, median_s, min_s, max_s,
    first_quartile_s, third_quartile_s, median_total_s, figures_cover, median_working_set_peak_bytes)
SELECT cell_key, operation, environment_hash, parameters_hash, method_version, count(*),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY operation_s), min(operation_s), max(operation_s),
    percentile_cont(0.25) WITHIN GROUP (ORDER BY operation_s), percentile_cont(0.75) WITHIN GROUP (ORDER BY operation_s),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY total_s), min(figures_cover), percentile_cont(0.5) WITHIN GROUP (ORDER BY memory_working_set_peak_bytes)
FROM storebench.attempt WHERE status = 'verified' AND disturbed IS NULL
GROUP BY cell_key, operation, environment_hash, parameters_hash, method_version;
