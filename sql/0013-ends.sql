-- How a run ended, and what runs have to remove again: their data in the stores, and their Secrets in the cluster.

-- Why what has no attempt was not run: the step that failed, or who stopped the run.
ALTER TABLE storebench.run ADD COLUMN stopped text;
-- Which Airflow the run is of: another one does not have it, and must not take it for deleted.
ALTER TABLE storebench.run ADD COLUMN airflow_id text;

-- A turn whose write may have begun, until what it wrote is dropped. What is kept on purpose is not here.
CREATE TABLE storebench.undropped (
    run_id text NOT NULL,
    cell_key text NOT NULL,
    repeat integer NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, cell_key, repeat),
    FOREIGN KEY (run_id, cell_key, repeat) REFERENCES storebench.run_cell (run_id, cell_key, repeat) ON DELETE CASCADE
);

-- The Secrets that a run needs in the cluster, by their connections: recorded before they are made, even before the run is.
CREATE TABLE storebench.secret_use (
    run_id text NOT NULL,
    node_pool text NOT NULL,
    connection text NOT NULL,
    PRIMARY KEY (run_id, node_pool, connection)
);
