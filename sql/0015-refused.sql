-- Runs that their plan refused are recorded, with the reason; and how long a run is expected to take.

ALTER TABLE storebench.run DROP CONSTRAINT run_state_check;
ALTER TABLE storebench.run ADD CONSTRAINT run_state_check CHECK (state IN ('running', 'success', 'failed', 'refused'));
-- Why a run was refused, or ended before it had done all: the step that failed, or who stopped it.
ALTER TABLE storebench.run RENAME COLUMN stopped TO reason;
ALTER TABLE storebench.run ADD COLUMN expected_s double precision;
