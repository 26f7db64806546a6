-- The results of Storebench. docs/results.md explains each column. Attempts are only ever added.

CREATE SCHEMA storebench;

CREATE TABLE storebench.dataset (
    id text PRIMARY KEY,
    schema_version integer NOT NULL,
    rows bigint NOT NULL CHECK (rows > 0),
    seed bigint NOT NULL CHECK (seed >= 0),
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    manifest jsonb NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE storebench.environment (
    hash text PRIMARY KEY,
    details jsonb NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE storebench.run (
    id text PRIMARY KEY,
    study text NOT NULL,
    dag_id text NOT NULL,
    airflow_run_id text NOT NULL,
    params jsonb NOT NULL,
    method_version integer NOT NULL,
    code_version text NOT NULL,
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'success', 'failed')),
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    UNIQUE (dag_id, airflow_run_id)
);

CREATE TABLE storebench.cell (
    key text PRIMARY KEY,
    study text NOT NULL,
    store text NOT NULL,
    client text NOT NULL,
    axes jsonb NOT NULL,
    rows bigint NOT NULL,
    seed bigint NOT NULL
);

-- What a run set out to do: the aggregate step finds the gaps by it.
CREATE TABLE storebench.run_cell (
    run_id text NOT NULL REFERENCES storebench.run (id),
    cell_key text NOT NULL REFERENCES storebench.cell (key),
    repeat integer NOT NULL CHECK (repeat > 0),
    PRIMARY KEY (run_id, cell_key, repeat)
);

CREATE TABLE storebench.attempt (
    id uuid PRIMARY KEY,
    run_id text NOT NULL,
    cell_key text NOT NULL,
    repeat integer NOT NULL,
    operation text NOT NULL CHECK (operation IN ('write', 'read')),
    try_number integer NOT NULL,
    status text NOT NULL CHECK (status IN ('verified', 'failed', 'not_run')),
    error_kind text,
    error text,
    exit_code integer,
    dataset_id text REFERENCES storebench.dataset (id),
    environment_hash text REFERENCES storebench.environment (hash),
    target text,
    pod text,
    node text,
    operation_s double precision,
    source_s double precision,
    barrier_s double precision,
    total_s double precision,
    pod_total_s double precision,
    memory_peak_bytes bigint,
    memory_working_set_peak_bytes bigint,
    memory_limit_bytes bigint,
    cpu_s double precision,
    throttled_s double precision,
    throttled_periods integer,
    oom_kills integer,
    client_cpu_share double precision,
    server_name text,
    server_version text,
    method_version integer NOT NULL,
    code_version text NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (run_id, cell_key, repeat) REFERENCES storebench.run_cell (run_id, cell_key, repeat),
    CHECK ((status = 'verified') = (error_kind IS NULL))
);
CREATE INDEX attempt_by_run ON storebench.attempt (run_id, recorded_at);
CREATE INDEX attempt_by_cell ON storebench.attempt (cell_key, operation, recorded_at);

CREATE TABLE storebench.phase (
    attempt_id uuid NOT NULL REFERENCES storebench.attempt (id),
    position integer NOT NULL,
    name text NOT NULL,
    seconds double precision NOT NULL,
    PRIMARY KEY (attempt_id, position)
);
