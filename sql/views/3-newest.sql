-- The newest attempt of each cell and operation, whatever its outcome, without warm-ups.
CREATE VIEW storebench.newest AS
SELECT newest.*
FROM storebench.cell AS c
JOIN storebench.study AS t ON t.name = c.study
CROSS JOIN LATERAL unnest(t.operations) AS o (operation)
CROSS JOIN LATERAL (
    SELECT r.*
    FROM storebench.results AS r
    WHERE r.cell_key = c.key AND r.operation = o.operation AND NOT r.warm_up
    ORDER BY r.recorded_at DESC
    LIMIT 1
) AS newest;
