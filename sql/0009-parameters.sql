-- The parameters of a run that change what is measured, with each attempt. Those of attempts from before are not known.

CREATE TABLE storebench.parameters (
    hash text PRIMARY KEY,
    details jsonb NOT NULL
);
ALTER TABLE storebench.attempt ADD COLUMN parameters_hash text REFERENCES storebench.parameters (hash);

-- Repeats with other parameters are another line of the summary; where they are not known, their hash is empty.
ALTER TABLE storebench.statistic ADD COLUMN parameters_hash text NOT NULL DEFAULT '';
ALTER TABLE storebench.statistic DROP CONSTRAINT statistic_pkey;
ALTER TABLE storebench.statistic
    ADD PRIMARY KEY (cell_key, operation, environment_hash, parameters_hash, method_version);
