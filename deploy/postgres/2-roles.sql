-- What holds for the roles, wherever the server runs.

-- By default a role finds the schema of its own name first, once that is there: the migration tool, which makes it,
-- would then look for its bookkeeping in another place at its second run than at its first.
ALTER ROLE storebench SET search_path = public;
-- Airflow's bookkeeping may lose its last moments in a power cut; results may not.
ALTER ROLE airflow SET synchronous_commit = off;
-- A task's process that a killed scheduler leaves behind holds the socket of its connection open: without this its
-- transaction would go on, and the lock on the run's row, for which the new scheduler waits.
ALTER ROLE airflow SET idle_in_transaction_session_timeout = '60s';
