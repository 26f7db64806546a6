-- Any study: what it is was recorded with its runs, its operations are its own, and each attempt says which metric its value is of.
-- Until now there was one kind of study, which wrote and read a table.

DROP VIEW IF EXISTS storebench.summary;
DROP VIEW IF EXISTS storebench.newest;
DROP VIEW IF EXISTS storebench.latest;
DROP VIEW IF EXISTS storebench.results;

ALTER TABLE storebench.attempt DROP CONSTRAINT attempt_operation_check;
ALTER TABLE storebench.attempt RENAME COLUMN operation_s TO value;
-- The rows that are there get the default without being written again.
ALTER TABLE storebench.attempt ADD COLUMN metric text DEFAULT 'only_s';
ALTER TABLE storebench.attempt ALTER COLUMN metric DROP DEFAULT;
ALTER TABLE storebench.run_cell ALTER COLUMN operations DROP DEFAULT;

-- What a study was when a run of it last began (storebench.study.model.Study.details).
CREATE TABLE storebench.study (
    name text PRIMARY KEY,
    operations text[] NOT NULL,
    details jsonb NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now()
);

-- The next run of each tells it as it is by then.
INSERT INTO storebench.study (name, operations, details, recorded_at)
SELECT s.name, '{write,read}', '{
    "title": "Bulk write and read", "description": "", "method_version": 2,
    "operations": [
        {"name": "write", "metrics": ["only_s", "rows_per_s", "source_s", "barrier_s"], "needs": []},
        {"name": "read", "metrics": ["only_s", "rows_per_s", "source_s", "barrier_s"], "needs": ["write"]}
    ],
    "metrics": [
        {"name": "only_s", "title": "time in the store''s client", "unit": "s", "better": "lower", "kind": "scalar", "by_cover": false},
        {"name": "rows_per_s", "title": "dataset rows a second", "unit": "rows/s", "better": "higher", "kind": "scalar", "by_cover": false},
        {"name": "source_s", "title": "reading and parsing the CSV", "unit": "s", "better": "neither", "kind": "scalar", "by_cover": false},
        {"name": "barrier_s", "title": "making it durable and visible", "unit": "s", "better": "lower", "kind": "scalar", "by_cover": false}
    ],
    "axes": [
        {"name": "batch", "title": "Batch sizes", "description": "", "numeric": false, "grid": ["10000", "100000", "all"], "where": {}},
        {"name": "executors", "title": "Executors", "description": "", "numeric": true, "grid": ["1", "2", "4"],
         "where": {"store": ["delta-spark"]}}
    ],
    "stores": [],
    "charts": [
        {"metric": "only_s", "colour": "batch", "operations": [], "panel": "operation"},
        {"metric": "rows_per_s", "colour": "batch", "operations": [], "panel": "operation"},
        {"metric": "total_s", "colour": "batch", "operations": [], "panel": "operation"},
        {"metric": "all_memory_working_set_peak_bytes", "colour": "batch", "operations": [], "panel": "operation"}
    ],
    "params": [], "dataset": {"name": "", "version": 1}
}'::jsonb || jsonb_build_object('name', s.name), 'epoch'
FROM (SELECT 'bulk_write_read' AS name UNION SELECT study FROM storebench.cell UNION SELECT study FROM storebench.run) AS s;

-- One name for one axis, also where a run is to be repeated.
UPDATE storebench.run
SET params = (params - 'batch_sizes') || jsonb_build_object('batch', params -> 'batch_sizes')
WHERE params ? 'batch_sizes';

-- The unit of a metric, by the end of its name, as storebench.study.model.unit_of has it.
CREATE FUNCTION storebench.unit(metric text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN metric ~ '[^_]_per_s$' THEN substring(metric FROM '([^_]+)_per_s$') || '/s'
        WHEN metric LIKE '%\_s' THEN 's'
        WHEN metric LIKE '%\_bytes' THEN 'bytes'
        WHEN metric LIKE '%\_share' THEN 'ratio'
        ELSE ''
    END
$$;
