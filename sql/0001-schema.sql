-- The tables of the results. docs/results.md describes the views that users query (sql/views/).
--
-- The end of a column's name is its unit: _s seconds, _bytes bytes, _cores CPU cores, _share a ratio from 0 to 1 unless a comment says
-- otherwise. A null figure was not measured. Attempts are only ever added.

CREATE SCHEMA storebench;

-- Return the unit of a metric by the end of its name, like storebench.study.model.unit_of.
CREATE FUNCTION storebench.unit(metric text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN metric ~ '(^|_)mb_per_s$' THEN 'MB/s'
        WHEN metric ~ '[^_]_per_s$' THEN substring(metric FROM '([^_]+)_per_s$') || '/s'
        WHEN metric LIKE '%\_s' THEN 's'
        WHEN metric LIKE '%\_bytes' THEN 'bytes'
        WHEN metric LIKE '%\_share' THEN 'ratio'
        ELSE ''
    END
$$;

-- The description of a study as of its last run (storebench.study.model.Study.details).
CREATE TABLE storebench.study (
    name text PRIMARY KEY,
    operations text[] NOT NULL,
    details jsonb NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE storebench.dataset (
    id text PRIMARY KEY,
    schema_version integer NOT NULL,  -- version of the dataset's generator
    rows bigint NOT NULL CHECK (rows > 0),
    seed bigint NOT NULL CHECK (seed >= 0),
    bytes bigint NOT NULL,
    sha256 text,
    manifest jsonb NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now()
);

-- Kernel, CPU, memory, versions and server settings under which attempts ran.
CREATE TABLE storebench.environment (
    hash text PRIMARY KEY,
    details jsonb NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now()
);

-- Parameters of a run that change an attempt's figures, such as sizes of pods.
CREATE TABLE storebench.parameters (
    hash text PRIMARY KEY,
    details jsonb NOT NULL
);

CREATE TABLE storebench.run (
    id text PRIMARY KEY,
    study text NOT NULL,
    dag_id text NOT NULL,
    airflow_run_id text NOT NULL,
    airflow_id text,  -- the Airflow that knows the run: another Airflow must not take the run for deleted
    params jsonb NOT NULL,
    method_version integer NOT NULL,
    code_version text NOT NULL,
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'success', 'failed', 'refused')),
    reason text,  -- the error of the plan that refused the run, or the step or user that ended the run early
    datasets text[],  -- null before the plan, and for a study without a dataset
    order_seed bigint,
    expected_s double precision,  -- the estimate, or the lower end of an estimated range
    expected_most_s double precision,  -- the upper end of an estimated range
    rested_s double precision NOT NULL DEFAULT 0,  -- from an end of the run until Airflow tasks of the run were cleared
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    UNIQUE (dag_id, airflow_run_id)
);
CREATE INDEX run_by_start ON storebench.run (started_at DESC);

-- Names for runs with which other runs are compared.
CREATE TABLE storebench.baseline (
    name text PRIMARY KEY,
    run_id text NOT NULL REFERENCES storebench.run (id),
    set_at timestamptz NOT NULL DEFAULT now()
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

-- The turns that a run planned. A turn measures all operations of a cell once. An attempt that is missing here is a gap.
CREATE TABLE storebench.run_cell (
    run_id text NOT NULL REFERENCES storebench.run (id),
    cell_key text NOT NULL REFERENCES storebench.cell (key),
    repeat integer NOT NULL CHECK (repeat >= 0),  -- 0 is a warm-up
    operations text[] NOT NULL,
    position integer,  -- in the run's order
    arm text CHECK (arm IN ('A', 'B')),  -- of an A/A run
    skipped text,  -- the reason why the turn was not planned
    node_pool text NOT NULL DEFAULT '',  -- turns of different node pools may run side by side
    PRIMARY KEY (run_id, cell_key, repeat)
);
CREATE INDEX run_cell_by_cell ON storebench.run_cell (cell_key);
CREATE INDEX run_cell_planned ON storebench.run_cell (run_id, cell_key, repeat) INCLUDE (operations);
CREATE INDEX run_cell_skipped ON storebench.run_cell (run_id) WHERE skipped IS NOT NULL;

CREATE TABLE storebench.attempt (
    id uuid PRIMARY KEY,
    run_id text NOT NULL,
    cell_key text NOT NULL,
    repeat integer NOT NULL,
    operation text NOT NULL,
    try_number integer NOT NULL,  -- the newest try counts
    status text NOT NULL CHECK (status IN ('verified', 'failed', 'not_run')),
    error_kind text,
    error text,
    exit_code integer,
    verification text,  -- the check of the data, and its call
    disturbed text,  -- the reason why the figures count nowhere although the data is right
    perhaps_disturbed text,  -- a possible disturbance: the figures count
    dataset_id text REFERENCES storebench.dataset (id),
    environment_hash text REFERENCES storebench.environment (hash),
    parameters_hash text REFERENCES storebench.parameters (hash),
    method_version integer NOT NULL,
    code_version text NOT NULL,
    target text,  -- name of the data in the store
    pod text,
    node text,
    server_name text,
    server_version text,
    delivers text,  -- the form in which a read hands rows to the program
    durability text CHECK (durability IN ('disk', 'memory', 'none', 's3', 'unknown')),  -- guaranteed by an acknowledged write
    durability_stated text,  -- the settings of server and connection that guarantee the durability
    metric text,  -- the metric that ranks the operation
    value double precision,  -- of that metric
    metrics jsonb NOT NULL DEFAULT '{}',  -- all numbers of the attempt by metric
    total_s double precision,  -- life of the container on the container's own clock
    pod_total_s double precision,  -- the same from the pod's status, resolution 1 s
    figures_cover text CHECK (figures_cover IN ('client', 'engine')),  -- what the figures of memory and CPU include
    memory_peak_bytes bigint,  -- with page cache
    memory_working_set_peak_bytes bigint,  -- without inactive page cache
    memory_limit_bytes bigint,
    cpu_s double precision,
    throttled_s double precision,
    throttled_periods integer,
    oom_kills integer,
    client_cpu_share double precision,  -- cores that the client kept busy
    client_cores_usable double precision,  -- cores that the client could have kept busy
    service_cpu_share double precision,  -- cores that the busiest service in front of the store kept busy
    service_cores_usable double precision,  -- cores that this service could have kept busy
    node_cpu_some_share double precision,  -- pressure stall information of the node during the operation
    node_memory_some_share double precision,
    node_memory_full_share double precision,
    node_io_some_share double precision,
    node_io_full_share double precision,
    node_steal_share double precision,  -- CPU time that the hypervisor gave to other machines
    node_others_cores double precision,  -- cores that everything but this pod kept busy
    node_strangers_cores double precision,  -- cores that neither this pod nor its store's server and executors kept busy
    started_at timestamptz,
    finished_at timestamptz,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (run_id, cell_key, repeat) REFERENCES storebench.run_cell (run_id, cell_key, repeat),
    CHECK ((status = 'verified') = (error_kind IS NULL))
);
CREATE INDEX attempt_by_run ON storebench.attempt (run_id, recorded_at);
CREATE INDEX attempt_by_turn ON storebench.attempt (run_id, cell_key, repeat, operation, try_number) INCLUDE (status);
CREATE INDEX attempt_by_cell ON storebench.attempt (cell_key, operation, recorded_at);
CREATE INDEX attempt_by_time ON storebench.attempt (recorded_at DESC);
CREATE INDEX attempt_longest ON storebench.attempt (total_s DESC NULLS LAST, id);
CREATE INDEX attempt_shortest ON storebench.attempt (total_s, id);
CREATE INDEX attempt_not_verified ON storebench.attempt (recorded_at DESC) WHERE status <> 'verified';
CREATE INDEX attempt_disturbed ON storebench.attempt (recorded_at DESC) WHERE disturbed IS NOT NULL;
CREATE INDEX attempt_disturbed_by_run ON storebench.attempt (run_id) WHERE disturbed IS NOT NULL;

-- The stretches of an attempt, in their order.
CREATE TABLE storebench.phase (
    attempt_id uuid NOT NULL REFERENCES storebench.attempt (id),
    position integer NOT NULL,
    name text NOT NULL,
    seconds double precision NOT NULL,
    PRIMARY KEY (attempt_id, position)
);

-- A histogram has `values` and `counts`. A series has `at_s`, the seconds since the operation began, and `values`.
CREATE TABLE storebench.artifact (
    attempt_id uuid NOT NULL REFERENCES storebench.attempt (id),
    name text NOT NULL,
    content jsonb NOT NULL,
    PRIMARY KEY (attempt_id, name)
);

-- Figures of the pods beside an attempt's own: executors that the attempt started, and servers that its run started.
CREATE TABLE storebench.usage (
    attempt_id uuid NOT NULL REFERENCES storebench.attempt (id),
    role text NOT NULL CHECK (role IN ('executor', 'server')),
    name text NOT NULL,
    pods integer NOT NULL DEFAULT 1 CHECK (pods > 0),  -- more than 1 where a row has the sum of pods
    memory_peak_bytes bigint,
    memory_working_set_peak_bytes bigint,
    cpu_s double precision,
    throttled_s double precision,
    throttled_periods bigint,
    oom_kills integer,
    read_bytes bigint,
    written_bytes bigint,
    data_bytes bigint,
    restarts integer,
    PRIMARY KEY (attempt_id, role, name)
);

-- Statistics of a cell's verified and undisturbed attempts without warm-ups, written when a run ends. Figures have the metric's unit.
CREATE TABLE storebench.statistic (
    cell_key text NOT NULL REFERENCES storebench.cell (key),
    operation text NOT NULL,
    metric text NOT NULL,
    environment_hash text NOT NULL,
    parameters_hash text NOT NULL DEFAULT '',  -- empty where no parameters are recorded
    method_version integer NOT NULL,
    figures_cover text,
    n integer NOT NULL,
    median double precision NOT NULL,
    min double precision,
    max double precision,
    first_quartile double precision,
    third_quartile double precision,
    interval_low double precision,  -- confidence interval of the median
    interval_high double precision,
    interval_coverage double precision,  -- probability that such an interval contains the median
    PRIMARY KEY (cell_key, operation, metric, environment_hash, parameters_hash, method_version)
);

-- Turns whose write may have begun, until the written data is dropped. Data that a run keeps on purpose is not here.
CREATE TABLE storebench.undropped (
    run_id text NOT NULL,
    cell_key text NOT NULL,
    repeat integer NOT NULL,
    bytes bigint CHECK (bytes >= 0),  -- size in the store, as the store stated it after the verification
    written_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, cell_key, repeat),
    FOREIGN KEY (run_id, cell_key, repeat) REFERENCES storebench.run_cell (run_id, cell_key, repeat) ON DELETE CASCADE
);

-- Kubernetes Secrets that a run needs. A row is recorded before its Secret is made, even before the run.
CREATE TABLE storebench.secret_use (
    run_id text NOT NULL,
    node_pool text NOT NULL,
    connection text NOT NULL,
    -- When the end of a run began to remove the Secret. Other runs wait for this time instead of a lock, which a dead host would hold.
    removing_at timestamptz,
    PRIMARY KEY (run_id, node_pool, connection)
);

-- Servers that a run started, from before their start until their removal. Only one set of servers runs at a time.
CREATE TABLE storebench.server_use (
    run_id text NOT NULL,
    servers text NOT NULL,  -- store, topology, and sizes that an axis sets
    store text NOT NULL,
    pods jsonb,  -- uid and restarts by pod name, once the pods are ready
    failed text,  -- the reason why the servers did not start, so that no later cell of the run waits for them again
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, servers)
);
