-- How often an interval that is made like that of the median holds what it is of.

ALTER TABLE storebench.statistic ADD COLUMN interval_coverage double precision;
