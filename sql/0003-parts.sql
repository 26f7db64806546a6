-- Operations that several pods do together: when their parts began, and the figures of each part that is not the attempt's own pod.
ALTER TABLE storebench.attempt ADD COLUMN start_skew_s double precision;  -- largest possible difference between the begins of two parts

ALTER TABLE storebench.usage
    DROP CONSTRAINT usage_role_check,
    ADD CONSTRAINT usage_role_check CHECK (role IN ('client', 'executor', 'server')),
    ADD COLUMN part integer,  -- number of the part; part 0 is the attempt's own pod
    ADD COLUMN node text,
    ADD COLUMN client_cpu_share double precision,  -- cores that the client kept busy
    ADD COLUMN client_cores_usable double precision,  -- cores that the client could have kept busy
    ADD COLUMN start_delay_s double precision;  -- from the common begin of all parts to the begin of this part
