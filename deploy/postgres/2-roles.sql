-- Settings of the roles, wherever the server runs.

-- By default a role finds the schema of its own name first, once that schema is there. The migration tool makes it. So at its second
-- run it would look for its bookkeeping in another place than at its first.
ALTER ROLE storebench SET search_path = public;
-- A power cut may lose the last moments of Airflow's bookkeeping. It must not lose results.
ALTER ROLE airflow SET synchronous_commit = off;
-- A killed scheduler may leave behind a task's process, which holds the socket of its connection open. Without this setting its
-- transaction would go on, with the lock on the run's row that the new scheduler waits for.
ALTER ROLE airflow SET idle_in_transaction_session_timeout = '60s';
