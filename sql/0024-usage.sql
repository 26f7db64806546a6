-- One table for all pods beside an attempt's own: executors that it has started, and servers that its run has brought.

ALTER TABLE storebench.executor RENAME TO usage;
ALTER TABLE storebench.usage RENAME COLUMN executor TO name;
ALTER TABLE storebench.usage
    ADD COLUMN role text NOT NULL DEFAULT 'executor' CHECK (role IN ('executor', 'server')),
    ADD COLUMN throttled_s double precision,
    ADD COLUMN throttled_periods bigint,
    ADD COLUMN read_bytes bigint,
    ADD COLUMN written_bytes bigint,
    ADD COLUMN data_bytes bigint,
    ADD COLUMN restarts integer;
ALTER TABLE storebench.usage ALTER COLUMN role DROP DEFAULT;
ALTER TABLE storebench.usage DROP CONSTRAINT executor_pkey;
ALTER TABLE storebench.usage ADD PRIMARY KEY (attempt_id, role, name);
