"""Compare runs and cells, plan the repeats that a comparison needs, and judge claims."""
