-- A row for each counter of an attempt's server. A counter grows with the server's work: `difference` belongs to the operation. A gauge is the
-- state of a moment, and its difference says how the state changed.
CREATE VIEW storebench.counters AS
SELECT
    v.run,
    v.study,
    v.store,
    v.client,
    v.axes,
    v.rows,
    v.seed,
    v.repeat,
    v.warm_up,
    v.operation,
    v.status,
    v.disturbed,
    n.name,
    n.unit,
    n.kind,
    n.before,
    n.after,
    n.after - n.before AS difference,
    n.unknown,
    n.position,
    v.server_name,
    v.server_version,
    v.recorded_at,
    v.cell_key,
    v.try_number,
    v.run_id,
    v.attempt_id
FROM storebench.counter AS n
JOIN storebench.results AS v ON v.attempt_id = n.attempt_id;
