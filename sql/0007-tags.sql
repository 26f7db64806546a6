-- Labels that users give to runs, such as the version of a release. They can change after the run.
ALTER TABLE storebench.run ADD COLUMN tags text[] NOT NULL DEFAULT '{}';
