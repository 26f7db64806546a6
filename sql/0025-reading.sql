-- What the page's questions are answered from, so that none reads more attempts than it shows, or reads their wide rows only to count them.

-- The tries of an operation, the newest of which counts.
CREATE INDEX attempt_by_turn ON storebench.attempt (run_id, cell_key, repeat, operation, try_number) INCLUDE (status);
CREATE INDEX attempt_disturbed_by_run ON storebench.attempt (run_id) WHERE disturbed IS NOT NULL;
-- What a run set out to do.
CREATE INDEX run_cell_planned ON storebench.run_cell (run_id, cell_key, repeat) INCLUDE (operations);
CREATE INDEX run_cell_skipped ON storebench.run_cell (run_id) WHERE skipped IS NOT NULL;
-- The longest and the shortest attempts of all: what is not known is last in both.
CREATE INDEX attempt_longest ON storebench.attempt (total_s DESC NULLS LAST, id);
CREATE INDEX attempt_shortest ON storebench.attempt (total_s, id);
