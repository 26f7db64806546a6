-- Where only a range is known of how long a run takes, its other end: expected_s is then the least, expected_most_s the most.

ALTER TABLE storebench.run ADD COLUMN expected_most_s double precision;
