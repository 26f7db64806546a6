"""The study of point operations: one entity at a time is written and read by its id."""
