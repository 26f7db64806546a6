"""Complete and read the rows of runs: summaries, rows for operations without an attempt, histories, and removal."""
