-- Why nobody can say whether others on the node disturbed an attempt; null where it was judged. Rows of pods that told nothing of their node
-- looked like judged ones.
ALTER TABLE storebench.attempt ADD COLUMN not_judged text;

UPDATE storebench.attempt SET not_judged = 'its pod told nothing of its node'
WHERE status = 'verified' AND disturbed IS NULL AND node_cpu_some_share IS NULL;
