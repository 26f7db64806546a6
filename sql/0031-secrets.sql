-- When the end of a run began to remove a Secret. A run that needs the Secret waits for this, and not for a lock of the table: a host that
-- died while it held the lock stalled every run.
ALTER TABLE storebench.secret_use ADD COLUMN removing_at timestamptz;
