-- Which of a run's mapped tasks took which turn: tasks take the turns in order, but are not started in theirs.

ALTER TABLE storebench.run_cell ADD COLUMN map_index integer;
CREATE UNIQUE INDEX run_cell_by_map_index ON storebench.run_cell (run_id, map_index) WHERE map_index IS NOT NULL;
