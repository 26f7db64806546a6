-- Cells on different pools of nodes may be measured side by side: each pool has tasks of its own, numbered on their own.

ALTER TABLE storebench.run_cell ADD COLUMN node_pool text NOT NULL DEFAULT '';
