-- What was verified of an attempt, and by what: null where that has failed, or was not recorded.

ALTER TABLE storebench.attempt ADD COLUMN verification text;
