-- Datasets of any kind, which runs name by their ids; and what an attempt reports beside numbers.

DROP VIEW IF EXISTS storebench.summary;
DROP VIEW IF EXISTS storebench.newest;
DROP VIEW IF EXISTS storebench.latest;
DROP VIEW IF EXISTS storebench.results;

-- A histogram has `values` and `counts`; a series has `at_s`, the seconds since the operation began, and `values`.
CREATE TABLE storebench.artifact (
    attempt_id uuid NOT NULL REFERENCES storebench.attempt (id),
    name text NOT NULL,
    content jsonb NOT NULL,
    PRIMARY KEY (attempt_id, name)
);

-- `schema_version` is the dataset's version; what its manifest says of its bytes is its own.
ALTER TABLE storebench.dataset ALTER COLUMN sha256 DROP NOT NULL;

-- Null: the run had not come to its plan, or its study has no dataset.
ALTER TABLE storebench.run ADD COLUMN datasets text[];
UPDATE storebench.run AS r SET datasets = d.ids
FROM (
    SELECT p.run_id, array_agg(DISTINCT format('v1/rows=%s/seed=%s', c.rows, c.seed)) AS ids
    FROM storebench.run_cell AS p JOIN storebench.cell AS c ON c.key = p.cell_key GROUP BY p.run_id
) AS d
WHERE d.run_id = r.id;
