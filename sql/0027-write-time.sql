-- Writes of the study bulk_write_read are ranked by write_s since its method 3: the time in the store's client and in the barrier. Earlier
-- attempts have recorded both parts, so that their sum is known. What ranked them when they were recorded (metric, value) stays.
UPDATE storebench.attempt AS a
SET metrics = a.metrics || jsonb_build_object(
    'write_s', (a.metrics ->> 'only_s')::double precision + (a.metrics ->> 'barrier_s')::double precision
)
FROM storebench.cell AS c
WHERE c.key = a.cell_key AND c.study = 'bulk_write_read' AND a.operation = 'write' AND a.status = 'verified'
    AND a.metrics ?& '{only_s,barrier_s}' AND NOT a.metrics ? 'write_s';
