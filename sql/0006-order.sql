-- A run's mapped tasks are started in the order of its turns: the n-th is the n-th turn's.

DROP INDEX storebench.run_cell_by_map_index;
ALTER TABLE storebench.run_cell DROP COLUMN map_index;
