-- Sampled stacks of an attempt's operation (storebench.protocol.profiles).
CREATE TABLE storebench.profile (
    attempt_id uuid NOT NULL REFERENCES storebench.attempt (id),
    name text NOT NULL,  -- what was sampled, such as python
    sampler text NOT NULL,
    hz double precision NOT NULL,  -- samples per second and thread
    samples integer,  -- including dropped samples
    dropped_samples integer,  -- of rare stacks that did not fit
    stacks bytea,  -- the folded format, compressed by gzip
    unknown text,  -- the reason why there are no stacks
    PRIMARY KEY (attempt_id, name)
);
