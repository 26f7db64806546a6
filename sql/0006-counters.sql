-- What a store's server reported about itself right before and right after an operation (storebench.protocol.counters).
CREATE TABLE storebench.counter (
    attempt_id uuid NOT NULL REFERENCES storebench.attempt (id),
    position integer NOT NULL,  -- the order in which the store declares its counters
    name text NOT NULL,
    unit text NOT NULL,  -- s, bytes, ratio; empty for a plain number
    kind text NOT NULL CHECK (kind IN ('counter', 'gauge')),
    before double precision,
    after double precision,
    unknown text,  -- the reason why there are no values
    PRIMARY KEY (attempt_id, name)
);
