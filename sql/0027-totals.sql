-- Writes of the study bulk_write_read are ranked by write_s since its method 3: the time in the store's client and in the barrier. Earlier
-- attempts have recorded both parts, so that their sum is known. What ranked them when they were recorded (metric, value) stays.
UPDATE storebench.attempt AS a
SET metrics = a.metrics || jsonb_build_object(
    'write_s', (a.metrics ->> 'only_s')::double precision + (a.metrics ->> 'barrier_s')::double precision
)
FROM storebench.cell AS c
WHERE c.key = a.cell_key AND c.study = 'bulk_write_read' AND a.operation = 'write' AND a.status = 'verified'
    AND a.metrics ?& '{only_s,barrier_s}' AND NOT a.metrics ? 'write_s';

-- The charts of the studies that are recorded show the total pod time without verification, in the place of the whole.
UPDATE storebench.study
SET details = jsonb_set(details, '{charts}', (
    SELECT jsonb_agg(CASE WHEN c.chart ->> 'metric' = 'total_s' THEN c.chart || '{"metric": "work_total_s"}' ELSE c.chart END ORDER BY c.n)
    FROM jsonb_array_elements(details -> 'charts') WITH ORDINALITY AS c (chart, n)
))
WHERE details -> 'charts' @> '[{"metric": "total_s"}]';
