-- What an attempt's figures are of, what its write was promised, and what makes its time incomparable although its data is right.

ALTER TABLE storebench.attempt
    ADD COLUMN client_cores_usable double precision,
    ADD COLUMN figures_cover text CHECK (figures_cover IN ('client', 'engine')),
    ADD COLUMN durability text CHECK (durability IN ('disk', 'memory', 'none', 's3', 'unknown')),
    ADD COLUMN durability_stated text,
    ADD COLUMN disturbed text,
    ADD COLUMN node_cpu_some_share double precision,
    ADD COLUMN node_memory_some_share double precision,
    ADD COLUMN node_memory_full_share double precision,
    ADD COLUMN node_io_some_share double precision,
    ADD COLUMN node_io_full_share double precision,
    ADD COLUMN node_steal_share double precision,
    ADD COLUMN node_others_cores double precision;

CREATE INDEX attempt_disturbed ON storebench.attempt (recorded_at DESC) WHERE disturbed IS NOT NULL;

ALTER TABLE storebench.statistic ADD COLUMN figures_cover text;

-- Of what was measured before, the store tells it: all clients of these servers ran in one Python thread at a time.
UPDATE storebench.attempt AS a
SET figures_cover = CASE WHEN split_part(c.store, '@', 1) IN ('mongodb', 'elasticsearch') THEN 'client' ELSE 'engine' END,
    client_cores_usable = CASE WHEN split_part(c.store, '@', 1) IN ('mongodb', 'elasticsearch') THEN 1 END
FROM storebench.cell AS c
WHERE c.key = a.cell_key AND a.operation_s IS NOT NULL;
