-- How much of the work of others on a node was a stranger's, and where nobody can tell whether that disturbed an attempt.

ALTER TABLE storebench.attempt
    ADD COLUMN perhaps_disturbed text,
    ADD COLUMN node_strangers_cores double precision;
