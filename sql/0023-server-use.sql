-- Servers that a run brings: perhaps there from before they are made until they are removed. One set at a time is there; those that could
-- not be made keep the reason until the run's end, so that no later cell of the run waits for them again.

CREATE TABLE storebench.server_use (
    run_id text NOT NULL,
    servers text NOT NULL,  -- the store with its topology, and the sizes that an axis gives it
    store text NOT NULL,
    pods jsonb,  -- by name: uid and restarts, once they are ready
    failed text,
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, servers)
);
